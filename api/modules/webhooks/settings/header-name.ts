// Which header a webhook's API key may travel in. Pure.

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/

/** What the request itself needs, what our signatures are in, and what a proxy on the way acts on. */
const OURS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|user-agent|date|via|forwarded|x-forwarded-.*|x-event-id|x-payload-.*|webhook-.*)$/i

/** Why this may not be the name of the header, for a message; null when it may. */
export function headerNameFault(name: string): string | null {
  if (!TOKEN.test(name)) return 'must be the name of a header: letters, digits and hyphens'
  if (OURS.test(name)) return `must not be ${name}, which the request itself needs`
  return null
}

/** What may stand in the value of a header: no line breaks, no control characters, nothing beyond ASCII, no space at its ends. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)
