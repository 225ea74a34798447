// Package browsertest has no code but tests: it opens the pages of a real service, on a real Redis and Postgres with a real
// provider of sign-in, in a headless Chromium, as people see them.
//
// Every page is walked through at three widths, in light and dark: axe finds nothing, nothing scrolls sideways, no
// page breaks its content security policy, and a screenshot is taken. With BROWSERTEST_SCREENSHOTS set to a directory the
// screenshots are kept there: docs/leaderboard.png is leaderboard-1280-light.png of them, docs/settings.png all of
// settings-1280-dark.png, docs/import.png all of data-preview-1280-light.png. Each thing that people do on a page is a test of its own: start a site, take a tab, and use the page.
//
// axe-core, in testdata/axe, is Deque's, under the Mozilla Public License 2.0 that stands beside it. It is used in these
// tests only, unchanged: axe.min.js of the release 4.14.1.
package browsertest
