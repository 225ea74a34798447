// Package web serves the pages for people. They are HTML from templates, rendered here. They work
// without script, and load only avatars from another host. Package signin has sign-in and sessions.
//
// # Adding a page
//
//  1. templates/pages/NAME.html defines the block "content". It is given a frame: .Content is your page's own struct,
//     .Session the visitor's, .Here the page's own address. Use the classes that static/app.css lists at its top, and the parts of
//     templates/parts.html. The content policy blocks style and script in the page, also style="" and onclick="".
//  2. NAME.go has the struct and the handler, func(c *gin.Context) error. The handler writes with s.show and nothing else. An error
//     that it returns becomes an error page by its fault (s.fail), so return the faults of the use cases unchanged.
//  3. sessionOf(c) is the visitor's session, from cookies that were verified; nil when nobody is signed in. Its methods Manages(g) (who may
//     change a guild) and MayRead(g) (who may see its board) work on nil too. signedIn(c, why) returns the session, or the fault that leads
//     to the sign-in page.
//  4. Site.Routes has the route, by pages.get or pages.post, which add the headers, the limits and the visitor. route.go has what a page may
//     need besides: upTo(limit) for a large form, formHere for a form that is sent to its page's address, slow, unlisted for crawlers.
//     A page about a guild for its managers is s.managing(handler): the handler is given the guild and the form. Elsewhere readForm(c) reads it.
//     A change is a POST from a form. It is rejected when a page of another site sent it, so the form needs no token. Each field is
//     {{template "field" (field .Form "id" "Label" "Hint." "attributes")}}, and {{template "refused" .Form}} lists what is wrong. After a change,
//     answer with c.Redirect(http.StatusSeeOther, ...). After an error, call form.refuse(id, message) and show the page with form.status().
//  5. A page reaches the rest of the service through fields of Deps, which app fills.
//
// A name from outside is always cleaned (package displayname) and in a <bdi>, and never in an attribute that is an address;
// html/template escapes the rest.
package web
