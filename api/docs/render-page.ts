// A Markdown page as HTML. Links between pages lead to where the pages are served; a link to a file of the repository, which is
// not served, keeps its text only.
import { posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import type { Page } from './read-pages.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as it stands in HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ESCAPES[character] ?? '')

/** The anchor of a heading, as code hosts make it: `FLAT on metered money` is `flat-on-metered-money`. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The address a link of the page `from` leads to; null for a file that is not served. */
export function addressOf(href: string, from: string, isServed: (path: string) => boolean): string | null {
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const path = posix.normalize(posix.join(posix.dirname(from), file)).replace(/\.md$/, '')
  if (!isServed(path)) return null
  return `/docs/${path}${anchor === undefined ? '' : `#${anchor}`}`
}

/** The body of a page. */
export function renderMarkdown({ path, markdown }: Page, isServed: (path: string) => boolean): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const anchor = anchorOf(text)
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens)
        const address = addressOf(href, path, isServed)
        return address === null ? text : `<a href="${escapeHtml(address)}">${text}</a>`
      },
      image({ href, text }: Tokens.Image): string {
        const address = addressOf(href, path, isServed)
        return address === null ? '' : `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      // Pages are Markdown: a tag in one is text.
      html: ({ text }: Tokens.HTML | Tokens.Tag): string => escapeHtml(text),
    },
  })
  return marked.parse(markdown, { async: false })
}
