// As much of a browser as sign-in and consent need, over real connections: it keeps cookies, follows redirects within the
// identity host, fills in the forms it is shown, and stops where the host sends it elsewhere.

export type Page = {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** Where the host sent the browser, outside of itself; null while it is still on a page of the host. */
  readonly leftFor: URL | null
}

export type Person = { readonly email: string; readonly password: string }

export type Browser = {
  readonly cookies: Map<string, string>
  open(url: string): Promise<Page>
  /** Submits a form of the page last shown, with its hidden fields. */
  submit(path: string, fields: readonly (readonly [name: string, value: string])[]): Promise<Page>
}

const REDIRECTS_MAX = 5

/** A browser without cookies. `onAnswer` sees every answer, redirects included. */
export function openBrowser(
  identityUrl: string,
  onAnswer: (answer: { status: number; headers: Headers; body: string }) => void = () => undefined,
): Browser {
  const cookies = new Map<string, string>()
  let hidden: [string, string][] = []

  const load = async (url: string, init: RequestInit): Promise<Page> => {
    let [next, how] = [url, init]
    for (let hop = 0; hop < REDIRECTS_MAX; hop += 1) {
      const cookie = [...cookies].map(pair => pair.join('=')).join('; ')
      const response = await fetch(next, { ...how, headers: { ...how.headers, cookie }, redirect: 'manual' })
      const body = await response.text()
      const { status, headers } = response
      onAnswer({ status, headers, body })
      keepCookies(cookies, headers)
      const location = headers.get('location')
      if (location === null) {
        hidden = hiddenFields(body)
        return { status, headers, body, leftFor: null }
      }
      if (status !== 303) throw new Error(`a redirect with ${status}: only 303 turns every method into GET`)
      const target = new URL(location, next)
      if (target.origin !== identityUrl) return { status, headers, body, leftFor: target }
      ;[next, how] = [target.href, {}]
    }
    throw new Error(`more than ${REDIRECTS_MAX} redirects from ${url}`)
  }
  return {
    cookies,
    open: url => load(url, {}),
    submit: (path, fields) =>
      load(`${identityUrl}${path}`, {
        method: 'POST',
        headers: { origin: identityUrl },
        body: new URLSearchParams([...hidden, ...fields].map(([name, value]) => [name, value])),
      }),
  }
}

function keepCookies(cookies: Map<string, string>, headers: Headers): void {
  for (const line of headers.getSetCookie()) {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    if (attributes.includes('Max-Age=0')) cookies.delete(name)
    else cookies.set(name, value)
  }
}

function hiddenFields(page: string): [string, string][] {
  const fields = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  // A page may have several forms, each with the page's own token.
  return [...new Map([...fields].map(([, name = '', value = '']) => [name, value]))]
}

/** Takes a browser through sign-in, where it is asked for, to the page behind `url`. */
export async function signInOnTheWay(browser: Browser, url: string, person: Person): Promise<Page> {
  const page = await browser.open(url)
  if (page.leftFor !== null || !page.body.includes('action="/sign-in"')) return page
  return await browser.submit('/sign-in', [
    ['email', person.email],
    ['password', person.password],
  ])
}

/** What a person does with the address an application opens: signs in, chooses `platforms`, approves. Gives the address they are sent back to. */
export async function approve(
  browser: Browser,
  authorizationUrl: string,
  person: Person,
  platforms: readonly string[],
): Promise<URL> {
  const consent = await signInOnTheWay(browser, authorizationUrl, person)
  if (consent.leftFor) return consent.leftFor
  if (consent.status !== 200) throw new Error(`the consent page answers ${consent.status}: ${consent.body}`)
  const answer = await browser.submit('/consent', [
    ['decision', 'approve'],
    ...platforms.map(platform => ['platforms', platform] as const),
  ])
  if (!answer.leftFor) throw new Error(`approving answers ${answer.status}: ${answer.body}`)
  return answer.leftFor
}
