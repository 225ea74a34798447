package httpapi

// pack returns the page gzipped, and keeps it so; nil when another page is being packed: then this one is sent as it is.
func (a *api) pack(name pageName, page encodedPage) []byte {
	packed := a.packer.TryPack(page.body)
	if packed != nil {
		a.pages.pack(name, page, packed)
	}
	return packed
}
