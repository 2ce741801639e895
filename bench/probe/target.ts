// Where a load is sent and as whom: the environment, or the installation of `npm start` on this machine.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSettings } from '../../infra/start/settings.ts'

export type Target = { readonly baseUrl: string; readonly ingestUrl: string; readonly apiKey: string }

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

type Credentials = {
  base_url: string
  ingest_url: string
  platforms: { environments: { LIVE: { api_key: string } } }[]
}

/**
 * BASE_URL, INGEST_URL and API_KEY; what is not set comes from credentials.json of DATA_DIR. Throws when there is no key, and
 * on an address that is not this machine's without ALLOW_REMOTE=yes: load goes only where its owner agreed.
 */
export function findTarget(env: NodeJS.ProcessEnv): Target {
  const file = join(readSettings({ ...env, BASE_URL: '' }).dataDir, 'credentials.json')
  const local = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Credentials) : null
  const apiKey = env['API_KEY'] ?? local?.platforms[0]?.environments.LIVE.api_key
  const baseUrl = env['BASE_URL'] || local?.base_url
  const ingestUrl = env['INGEST_URL'] || (env['BASE_URL'] ? env['BASE_URL'] : local?.ingest_url)
  if (!apiKey || !baseUrl || !ingestUrl)
    throw new Error(`BASE_URL and API_KEY are not set, and npm start has not written ${file}`)
  for (const url of [baseUrl, ingestUrl])
    if (!LOOPBACK.includes(new URL(url).hostname) && env['ALLOW_REMOTE'] !== 'yes')
      throw new Error(`${url} is not this machine. Load goes there only with ALLOW_REMOTE=yes, when its owner agreed.`)
  return { baseUrl: baseUrl.replace(/\/$/, ''), ingestUrl: ingestUrl.replace(/\/$/, ''), apiKey }
}
