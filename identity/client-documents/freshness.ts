// How long a document is kept before it is read again: what its server says, within bounds of ours. Pure.

/** Seconds. Long enough that consent and code of one sign-in go by one reading of it. */
const MAX_AGE_LEAST = 5 * 60
const MAX_AGE_MOST = 24 * 60 * 60
const MAX_AGE_DEFAULT = 60 * 60

/** Seconds that an answer with this Cache-Control may be used without asking again. */
export function maxAgeSeconds(cacheControl: string | undefined): number {
  const directives = (cacheControl ?? '')
    .toLowerCase()
    .split(',')
    .map(part => part.trim())
  if (directives.some(each => /^(?:no-store|no-cache)(?:=|$)/.test(each))) return MAX_AGE_LEAST
  const age = directives.map(each => /^max-age="?([0-9]{1,10})"?$/.exec(each)?.[1]).find(each => each !== undefined)
  return age === undefined ? MAX_AGE_DEFAULT : Math.min(Math.max(Number(age), MAX_AGE_LEAST), MAX_AGE_MOST)
}
