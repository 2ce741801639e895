// Where the load goes, and as whom. Load goes only where somebody said that it may: to this machine, or with
// ALLOW_REMOTE=yes to the address given.

const LOOPBACK = /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(\/|$)/

const setting = (name, fallback) => {
  const value = __ENV[name] || fallback
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** BASE_URL answers the whole interface; INGEST_URL, the gateway's own address, takes the events. */
export const baseUrl = setting('BASE_URL', 'http://127.0.0.1:8080').replace(/\/$/, '')
export const ingestUrl = setting('INGEST_URL', baseUrl).replace(/\/$/, '')
export const apiKey = setting('API_KEY')
/** Events a second. */
export const rate = Number(setting('RATE', '2000'))
export const durationSeconds = Number(setting('DURATION', '20').replace(/s$/, ''))

for (const url of [baseUrl, ingestUrl])
  if (!LOOPBACK.test(url) && __ENV.ALLOW_REMOTE !== 'yes')
    throw new Error(`${url} is not this machine. Load goes there only with ALLOW_REMOTE=yes, when whoever runs it agreed.`)
if (!(rate >= 1) || !(durationSeconds >= 1)) throw new Error('RATE and DURATION are numbers, 1 or more')

export const headers = { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' }
