// SPDX-License-Identifier: Apache-2.0

// Package picture draws a rollout: its clusters by state over time, and its groups against time.
//
// A [Timeline] is all that a picture knows. It is a plain value: how many clusters were in each state, from
// which time on, altogether and in each group, and the one instant that a reader looks for, such as the stop.
// [Timeline.SVG] and [Timeline.PNG] draw it on a page, [Timeline.Chart] in a terminal.
//
// A page is for a stranger. The instant is a flag with the time on it, and a line through all that the page
// shows. States differ by pattern and by brightness as well as by colour, so that a copy in black and white
// says the same. However many clusters and groups there are, a page has a limited number of points: time is
// cut into columns, and neighbouring groups are put together in rows.
package picture
