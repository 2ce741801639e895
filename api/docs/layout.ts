// The frame around a page of documentation: menu, search field and style.
import { ICON_LINK } from '../../shared/http/favicon.ts'
import { MENU, type Page } from './read-pages.ts'
import { escapeHtml } from './render-page.ts'
import type { Hit } from './search-pages.ts'

export const STYLE = `:root{color-scheme:light dark;--line:#d5d9e0;--soft:#f4f6f8;--link:#1f5fbf}
@media(prefers-color-scheme:dark){:root{--line:#3a3f47;--soft:#1d2127;--link:#8ab4f8}}
*{box-sizing:border-box}body{font:16px/1.6 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:15rem minmax(0,48rem);gap:2rem;padding:1.5rem}
a{color:var(--link)}h1 a,h2 a,h3 a{color:inherit;text-decoration:none}h2{margin-top:2.5rem}
nav ul{list-style:none;padding:0}nav li{margin:.25rem 0}nav [aria-current]{font-weight:600}
input{font:inherit;width:100%;padding:.4rem .6rem}
pre{background:var(--soft);padding:1rem;overflow-x:auto}code{font-size:.9em}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}
img{max-width:100%;height:auto}
@media(max-width:50rem){body{display:block;padding:1rem}}
`

type Frame = { readonly title: string; readonly body: string; readonly at?: string; readonly query?: string }

/** A whole HTML document. */
export function framed(pages: readonly Page[], { title, body, at, query = '' }: Frame): string {
  const items = pages
    .filter(({ path }) => MENU.includes(path))
    .map(
      page =>
        `<li><a href="/docs/${page.path}"${page.path === at ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`,
    )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Millrace</title>
${ICON_LINK}
<link rel="stylesheet" href="/docs/style.css">
<nav aria-label="Documentation">
<p><a href="/docs">Millrace documentation</a></p>
<form action="/docs/search" role="search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" value="${escapeHtml(query)}" maxlength="200"></form>
<ul>
${items.join('\n')}
<li><a href="/v1/docs">API reference</a></li>
</ul>
</nav>
<main>
${body}</main>
</html>
`
}

/** The list of all pages, each with its first sentence. */
export function indexBody(pages: readonly Page[]): string {
  const item = ({ path, title, markdown }: Page): string => {
    const [, lead = ''] = /^# .+\n+([^\n#|`-][\s\S]*?)(?:\n\n|$)/.exec(markdown) ?? []
    const [sentence = ''] = lead.replace(/\[([^\]]+)\]\([^)]*\)|[`*]/g, '$1').split(/(?<=[.:])\s/)
    return `<li><a href="/docs/${path}">${escapeHtml(title)}</a><br>${escapeHtml(sentence.replace(/:$/, '.'))}</li>`
  }
  const of = (wanted: readonly Page[]) => `<ul>\n${wanted.map(item).join('\n')}\n</ul>\n`
  const inMenu = (page: Page) => MENU.includes(page.path)
  return `<h1>Millrace documentation</h1>
${of(pages.filter(inMenu))}<h2>Design decisions</h2>
${of(pages.filter(page => !inMenu(page)))}`
}

/** What a search found. */
export function searchBody(query: string, hits: readonly Hit[]): string {
  const items = hits.map(
    ({ path, page, heading, anchor, excerpt }) =>
      `<li><a href="/docs/${path}#${anchor}">${escapeHtml(heading || page)}</a> (${escapeHtml(page)})<br>${escapeHtml(excerpt)}</li>`,
  )
  const found =
    hits.length === 0 ? '<p>Nothing was found. Try fewer or other words.</p>\n' : `<ul>\n${items.join('\n')}\n</ul>\n`
  return `<h1>Search: ${escapeHtml(query)}</h1>\n${found}`
}
