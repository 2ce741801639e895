// Which header may carry a webhook's API key. Pure.

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/

/** Headers that the request itself needs, that carry our signatures, or that proxies act on. */
const OURS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|user-agent|date|via|forwarded|x-forwarded-.*|x-event-id|x-payload-.*|webhook-.*)$/i

/** Why this name is refused for the header, as part of a message; null when it is allowed. */
export function headerNameFault(name: string): string | null {
  if (!TOKEN.test(name)) return 'must be the name of a header: letters, digits and hyphens'
  if (OURS.test(name)) return `must not be ${name}, which the request itself needs`
  return null
}

/** What the value of a header may contain: no line breaks, no control characters, only ASCII, no space at its ends. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)
