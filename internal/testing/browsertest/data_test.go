package browsertest

import (
	"fmt"
	"testing"
)

// TestADataPageImportsAndUndoes walks through an import as a manager sees it. The page reloads itself until each step is done.
func TestADataPageImportsAndUndoes(t *testing.T) {
	t.Parallel()
	s := newSite(t, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms")
	g := s.guild(object{"name": "Moles"})
	there := s.member(s.key(g), g, "digger", 500)
	s.adaManages(g)
	b := s.tab(t)
	b.signIn("/guilds/" + g + "/data")
	b.see("Upload and preview", "No checkpoints yet")
	b.fill("#guild", "Voles")
	b.press("Reset all members")
	b.see("Type the name exactly as shown above.")
	b.inspect("data-wrong")

	file := fmt.Sprintf("id,xp,messages,name\n%s,900,12,digger\n%s,2400,40,Ada Lovelace\n12,1,1,x\n%s,x,1,y\n", there, newID(), newID())
	eval[int](b, fmt.Sprintf(`(() => { const files = new DataTransfer(); files.items.add(new File([%q], "members.csv"));
		document.getElementById("file").files = files.files; return 1 })()`, file))
	b.press("Upload and preview")
	b.see("Preview of the import", "Skipped rows", "line 4, row 3")
	b.inspect("data-preview")
	b.press("Import 2 members")
	b.see("Imported 2 members: 1 new, 1 changed")
	b.press("Restore or delete Before an import")
	b.see("Restoring replaces all members")
	b.inspect("data-done")
	b.press("Undo")
	b.see("1 member restored.")
	b.press("Close")
	b.until("!document.body.innerText.includes('Restore finished')")
}
