// The frame of the pages this api shows in a browser: no framework, one style sheet, and a policy that lets nothing else in.
import { ICON_LINK } from '../../shared/http/favicon.ts'

/** The policy of the pages: their own style and script, and nothing from elsewhere. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as HTML. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character] ?? '')

/** A sentence with `code` in it as HTML. */
export const inline = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** Paragraphs as HTML. */
export const paragraphs = (text: string): string =>
  text
    .split('\n\n')
    .filter(each => each !== '')
    .map(each => `<p>${inline(each)}</p>`)
    .join('')

/** A field that hides the items of the page in which its words do not occur. */
export const searchField = ({ of, example, none }: Readonly<Record<'of' | 'example' | 'none', string>>): string =>
  `<p><label for="search">Search the ${of}</label> <input id="search" type="search" placeholder="${example}" autocomplete="off"></p>
<p id="none" hidden>${none}</p>`

/** A whole page. `title` is text, `body` HTML. */
export const page = (title: string, body: string, script = false): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
${ICON_LINK}
<link rel="stylesheet" href="/v1/docs/style.css">
${script ? '<script src="/v1/docs/search.js" defer></script>' : ''}
</head>
<body>
<header><a class="brand" href="/">Millrace</a><nav><a href="/v1/docs">API reference</a><a href="/v1/docs/shapes">Shapes</a><a href="/v1/openapi.json">OpenAPI</a><a href="/console">Console</a></nav></header>
<main>
${body}
</main>
</body>
</html>
`

export const STYLE = `:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--quiet:#545d68;--rule:#dde2e7;--soft:#f3f5f7;--act:#0b57b0}
@media (prefers-color-scheme:dark){:root{--paper:#14181c;--ink:#e8eaed;--quiet:#a3adb8;--rule:#2f363e;--soft:#22282e;--act:#7cb7ff}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:baseline;padding:1rem max(1rem,calc(50vw - 30rem));border-bottom:1px solid var(--rule)}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem}.brand{font-weight:700;text-decoration:none}
main{max-width:60rem;margin:0 auto;padding:1rem 1rem 4rem;overflow-wrap:anywhere}
a{color:var(--act)}h1{font-size:1.75rem;line-height:1.2}h2{font-size:1.25rem;margin-top:2.5rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}
section{content-visibility:auto;contain-intrinsic-size:auto 20rem;border-top:1px solid var(--rule)}
code,pre{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;background:var(--soft);border-radius:.25rem}code{padding:.1em .3em}
pre{padding:.75rem;overflow-x:auto}pre code{padding:0}.method{font-weight:700}.old{color:var(--quiet);text-decoration:line-through}
table{border-collapse:collapse;width:100%;font-size:.9375rem}td,th{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-top:1px solid var(--rule)}th{font-weight:600}
.quiet{color:var(--quiet)}input[type=search]{width:100%;padding:.6rem .75rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--quiet);border-radius:.4rem}
ul.operations{list-style:none;padding:0}ul.operations li{padding:.3rem 0;border-top:1px solid var(--rule)}[hidden]{display:none!important}
`

/** Hides the items in which the words do not occur: in their text, or in where they lead. */
export const SEARCH = `const field=document.querySelector('input[type=search]')
const groups=[...document.querySelectorAll('[data-group]')]
const none=document.getElementById('none')
const textOf=item=>(item.textContent+' '+item.querySelector('a').hash).toLowerCase()
const show=()=>{const words=field.value.toLowerCase().split(/\\s+/).filter(Boolean)
let all=0
for(const group of groups){let shown=0
for(const item of group.querySelectorAll('li')){const fits=words.every(word=>textOf(item).includes(word));item.hidden=!fits;if(fits)shown+=1}
group.hidden=shown===0;all+=shown}
none.hidden=all>0}
field.addEventListener('input',show)
document.addEventListener('keydown',event=>{if(event.key==='/'&&document.activeElement!==field){event.preventDefault();field.focus()}})
if(location.hash.startsWith('#q='))field.value=decodeURIComponent(location.hash.slice(3))
show()
`
