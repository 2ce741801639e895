// The frame of every page of the identity host: one style sheet of its own, and a script on the pages that ask for a passkey
// alone. Everything can be read without either.
import { type Html, html } from './html.ts'

/** A whole document. `title` names the page first, for tabs and screen readers. `script`: whether it asks for a passkey. */
export function page(title: string, body: Html, { script = false }: { readonly script?: boolean } = {}): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – Millrace</title>
<link rel="stylesheet" href="/assets/identity.css">
${script ? html`<script type="module" src="/assets/passkeys.mjs"></script>` : null}
</head>
<body>
<header><p class="brand">Millrace</p></header>
<main>
${body}
</main>
</body>
</html>
`.text
}

/** What stands at the head of a form that was refused; read out at once by screen readers. */
export const alert = (message: string): Html => html`<p class="alert" role="alert">${message}</p>`

export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #8a9099; --soft: #f3f5f7; --act: #0b57b0; --warn: #8a3b00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #16191d; --line: #7d848d; --soft: #20252b; --act: #7cb7ff; --warn: #ffb27a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
header, main { max-width: 34rem; margin: 0 auto; padding: 1rem; }
.brand { font-weight: 700; margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.2; }
label { display: block; font-weight: 600; margin-top: 1rem; }
input[type="text"], input[type="email"], input[type="password"], select { width: 100%; padding: .6rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .3rem; }
button { margin-top: 1.25rem; padding: .6rem 1.2rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--act); border: 2px solid var(--act); border-radius: .3rem; cursor: pointer; }
button.second { color: var(--act); background: var(--paper); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
a { color: var(--act); }
fieldset { border: 1px solid var(--line); border-radius: .3rem; margin-top: 1rem; }
.choice { display: flex; gap: .6rem; align-items: baseline; font-weight: 400; margin-top: .5rem; }
.actions { display: flex; gap: 1rem; flex-wrap: wrap; }
.alert, .caution { border-left: .3rem solid var(--warn); background: var(--soft); padding: .6rem .8rem; }
.note { background: var(--soft); padding: .6rem .8rem; border-radius: .3rem; }
code { overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; padding: .4rem; border-bottom: 1px solid var(--line); vertical-align: top; }
`
