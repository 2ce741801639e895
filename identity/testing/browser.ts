// As much of a browser as the forms need: keeps cookies, says where a request comes from, reads a page's hidden fields.
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'

export type Browser = {
  get(path: string): Promise<LightMyRequestResponse>
  /** Submits a form from one of our own pages: the fields given, and the hidden ones of the page last read. */
  submit(
    path: string,
    fields: Readonly<Record<string, string>>,
    lists?: Readonly<Record<string, readonly string[]>>,
  ): Promise<LightMyRequestResponse>
  readonly cookies: Map<string, string>
}

/** A browser of its own, with no cookies yet. */
export function openBrowser(app: FastifyInstance): Browser {
  const cookies = new Map<string, string>()
  let hidden: Record<string, string> = {}
  const keep = (response: LightMyRequestResponse): LightMyRequestResponse => {
    for (const { name, value, maxAge } of response.cookies) {
      if (maxAge === 0) cookies.delete(name)
      else cookies.set(name, value)
    }
    if (String(response.headers['content-type']).startsWith('text/html')) hidden = hiddenFields(response.body)
    return response
  }
  const header = (): Record<string, string> => ({ cookie: [...cookies].map(pair => pair.join('=')).join('; ') })
  return {
    cookies,
    get: async path => keep(await app.inject({ url: path, headers: header() })),
    submit: async (path, fields, lists = {}) => {
      const form = new URLSearchParams({ ...hidden, ...fields })
      for (const [name, values] of Object.entries(lists)) for (const value of values) form.append(name, value)
      return keep(
        await app.inject({
          method: 'POST',
          url: path,
          headers: {
            ...header(),
            'content-type': 'application/x-www-form-urlencoded',
            'sec-fetch-site': 'same-origin',
          },
          payload: form.toString(),
        }),
      )
    },
  }
}

function hiddenFields(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  return Object.fromEntries([...fields].map(([, name, value]) => [name ?? '', value ?? '']))
}
