// What a resource is called in a sentence.

const NOUNS: Readonly<Record<string, string>> = {
  API_KEY: 'API key',
  REPROCESS: 'reprocess run',
  FILE_PROCESSING_SETTINGS: 'set of file processing settings',
  PRICING_PLAN_SUBSCRIPTION: 'subscription',
  PRICING_PLAN_SCHEDULE: 'schedule',
}
const PLURALS: Readonly<Record<string, string>> = { FILE_PROCESSING_SETTINGS: 'sets of file processing settings' }

/** One of them, without an article. */
export const nounOf = (objectType: string): string => NOUNS[objectType] ?? objectType.toLowerCase().replaceAll('_', ' ')

/** Several of them. */
export const pluralOf = (objectType: string): string => {
  const noun = nounOf(objectType)
  return PLURALS[objectType] ?? (noun.endsWith('y') && !noun.endsWith('ey') ? `${noun.slice(0, -1)}ies` : `${noun}s`)
}

/** With its article: "an alert rule". */
export const withArticle = (noun: string): string => `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`
