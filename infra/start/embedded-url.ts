// Where npm start runs a service of this data folder, for commands beside it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from './settings.ts'

const SERVICES = {
  nats: { scheme: 'nats', user: 'millrace' },
  clickhouse: { scheme: 'http', user: 'default' },
} as const

/** Its address, with the password that it keeps in its folder. Throws when no installation of npm start is there. */
export function embeddedUrl(settings: Settings, service: keyof typeof SERVICES): string {
  const file = join(settings.dataDir, service, 'password')
  if (!existsSync(file))
    throw new Error(
      `${service.toUpperCase()}_URL is not set, and no installation of npm start is in ${settings.dataDir}`,
    )
  const { scheme, user } = SERVICES[service]
  return `${scheme}://${user}:${readFileSync(file, 'utf8').trim()}@127.0.0.1:${settings.port(service)}`
}
