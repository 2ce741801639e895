/**
 * The absolute URL that a text is; null when it is none. URL.canParse is not used: once optimized, that of Node 20 refuses names with
 * letters such as ü.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
