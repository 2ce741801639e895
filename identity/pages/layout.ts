// The frame of every page of the identity host: one style sheet of its own, and a script on the pages that ask for a passkey
// alone. Everything can be read without either.
import { type Html, html } from './html.ts'

/** The wheel of a mill in its race. Beside the name, so it says nothing of its own. */
const MARK = html`<svg class="mark" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><circle cx="12" cy="10" r="6"/><path d="M12 1v18M3 10h18M5.6 3.6l12.8 12.8M18.4 3.6L5.6 16.4M1 22c2-2 4-2 6 0s4 2 6 0 4-2 6 0 3 1.5 4 .5"/></svg>`

/** A whole document. `title` names the page first, for tabs and screen readers. `script`: whether it uses passkeys. */
export function page(title: string, body: Html, { script = false }: { readonly script?: boolean } = {}): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – Millrace</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/assets/identity.css">
${script ? html`<script type="module" src="/assets/passkeys.mjs"></script>` : null}
</head>
<body>
<header><p class="brand">${MARK}Millrace</p></header>
<main>
${body}
</main>
</body>
</html>
`.text
}

/** What stands at the head of a form that was refused; read out at once by screen readers. */
export const alert = (message: string): Html => html`<p class="alert" role="alert">${message}</p>`

// Two columns of nothing: one card on a quiet ground, as wide as a line is good to read. Every colour is a variable with its
// dark counterpart; text has a contrast of 4.5 to 1 and more, lines that matter 3 to 1 (a test measures both).
export const STYLE = `
:root { color-scheme: light dark; --ground: #eef1f4; --paper: #fff; --ink: #1b1f24; --quiet: #545d68; --line: #7b848f; --rule: #dde2e7;
  --soft: #f3f5f7; --act: #0b57b0; --on-act: #fff; --act-over: #084588; --warn: #8a3b00; --warn-soft: #fff4e8; }
@media (prefers-color-scheme: dark) { :root { --ground: #101316; --paper: #191d22; --ink: #e8eaed; --quiet: #a3adb8; --line: #7d8792; --rule: #2f363e;
  --soft: #22282e; --act: #7cb7ff; --on-act: #0b1a2b; --act-over: #a5cdff; --warn: #ffb27a; --warn-soft: #2e2319; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; padding: 1rem; min-height: 100vh; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 30rem; margin: 0 auto; }
header { padding: 1rem .25rem; }
.host { overflow-wrap: anywhere; }
.brand { display: flex; align-items: center; gap: .5rem; font-weight: 700; letter-spacing: .01em; margin: 0; color: var(--act); }
.mark { width: 1.6rem; height: 1.6rem; }
main { background: var(--paper); border: 1px solid var(--rule); border-radius: .75rem; padding: 1.5rem; overflow-wrap: break-word; }
main > :first-child { margin-top: 0; }
main > :last-child { margin-bottom: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.0625rem; line-height: 1.3; margin: 1.5rem 0 .5rem; }
p { margin: .75rem 0; }
ul, ol { padding-left: 1.25rem; margin: .75rem 0; }
li { margin: .25rem 0; }
a { color: var(--act); text-underline-offset: .15em; }
label { display: block; font-weight: 600; margin: 1rem 0 .3rem; }
input[type="text"], input[type="email"], input[type="password"], select { width: 100%; min-height: 2.75rem; padding: .5rem .7rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; }
input[name="code"] { letter-spacing: .15em; font-variant-numeric: tabular-nums; }
button, .button { display: inline-block; min-height: 2.75rem; margin-top: 1rem; padding: .55rem 1.2rem; font: inherit; font-weight: 600; line-height: 1.5rem; text-align: center; text-decoration: none; color: var(--on-act); background: var(--act); border: 1px solid var(--act); border-radius: .4rem; cursor: pointer; }
button:hover, .button:hover { background: var(--act-over); border-color: var(--act-over); }
button.second { color: var(--act); background: var(--paper); border-color: var(--line); }
button.second:hover { background: var(--soft); border-color: var(--act); }
.wide button { width: 100%; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; border-radius: .2rem; }
fieldset { border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0 0; padding: .25rem .9rem .75rem; min-width: 0; }
legend { font-weight: 600; padding: 0 .35rem; }
.choice { display: flex; gap: .6rem; align-items: flex-start; font-weight: 400; margin: .25rem 0; padding: .35rem 0; }
input[type="checkbox"], input[type="radio"] { width: 1.15rem; height: 1.15rem; margin: .175rem 0 0; flex: none; accent-color: var(--act); }
.live { color: var(--warn); background: var(--warn-soft); border: 1px solid var(--warn); border-radius: .3rem; padding: 0 .35rem; font-size: .875rem; }
.actions { display: flex; gap: .75rem; flex-wrap: wrap; }
.actions button { flex: 1 1 8rem; }
.alert, .caution { border-left: .25rem solid var(--warn); background: var(--warn-soft); border-radius: 0 .4rem .4rem 0; padding: .6rem .8rem; }
.alert { font-weight: 600; }
.note { background: var(--soft); border-radius: .4rem; padding: .6rem .8rem; }
.hint, .foot { color: var(--quiet); font-size: .9375rem; }
.foot { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
.asker { display: flex; gap: .9rem; align-items: center; }
.asker img { flex: none; }
section { border-top: 1px solid var(--rule); margin-top: 1.5rem; }
section.note, .entry { border: 1px solid var(--rule); background: none; border-radius: .5rem; padding: .25rem 1rem 1rem; margin: 1rem 0; }
section.note h2 { margin-top: .75rem; }
.entry button, section.note button { margin-top: .25rem; }
.ways { list-style: none; padding: 0; }
.ways a { display: block; margin: .5rem 0; padding: .7rem .9rem; border: 1px solid var(--rule); border-radius: .5rem; text-decoration: none; font-weight: 600; }
.ways a:hover { border-color: var(--act); background: var(--soft); }
.ways span { display: block; color: var(--quiet); font-weight: 400; font-size: .9375rem; }
details { margin-top: 1.25rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
summary { cursor: pointer; color: var(--act); font-weight: 600; }
code { font: .9375em ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.qr { display: block; width: 100%; max-width: 13rem; height: auto; margin: 1rem auto; border-radius: .4rem; }
.codes { columns: 2; column-gap: 2rem; padding-left: 1.75rem; }
.codes li { margin: 0; line-height: 2; break-inside: avoid; }
@media (max-width: 24rem) { .codes { columns: 1; } main { padding: 1.25rem 1rem; } body { padding: .5rem; } }
@media print { body, main { background: none; border: 0; padding: 0; } .button, .caution, header { display: none; } }
`
