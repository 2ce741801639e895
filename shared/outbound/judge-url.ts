// Whether an address somebody gave us may be asked, as far as its text tells. What its name leads to is judged when it is
// connected to (outbound-agent.ts).
import { isIP } from 'node:net'
import type { Config } from '../config.ts'
import { isPublicAddress } from './public-address.ts'

/** What the operator allows requests to addresses that users give. */
export type OutboundPolicy = {
  /** Ports by protocol; a protocol without any is refused. */
  readonly ports: { readonly 'https:': readonly number[]; readonly 'http:': readonly number[] }
  /** `host:port` that may be asked by either protocol, whatever address it has. */
  readonly hosts: ReadonlySet<string>
}

export const OUTBOUND_SETTINGS = ['OUTBOUND_HTTP', 'OUTBOUND_HOSTS'] as const

export const outboundPolicy = (config: Config<(typeof OUTBOUND_SETTINGS)[number]>): OutboundPolicy => ({
  ports: { 'https:': [443], 'http:': config.OUTBOUND_HTTP === 'allow' ? [80] : [] },
  hosts: new Set(config.OUTBOUND_HOSTS),
})

/** The address may not be asked; nothing was sent to it. The message says what to change, without the address itself. */
export class RefusedAddress extends Error {}

/** `isNamed`: the operator has named this host and port, so its addresses are not judged. */
export type JudgedUrl = { readonly url: URL; readonly isNamed: boolean }

/** The URL, when it may be asked. Throws RefusedAddress. */
export function judgeUrl(text: string, policy: OutboundPolicy): JudgedUrl {
  // The parser would remove or turn these round in silence, and then it is not the address that was read by a person.
  if (/[\p{Cc}\s\\]/u.test(text)) refuse('must not hold white space, control characters or backslashes')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return refuse('must be a URL that begins with https://')
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1]
  if (authority === undefined) return refuse('must have // after its protocol')
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    refuse('must not hold a user or a password')
  }
  const port = portOf(url)
  if (policy.hosts.has(`${hostOf(url)}:${port}`)) return { url, isNamed: true }
  const ports = policy.ports[url.protocol]
  if (ports.length === 0) refuse('must begin with https://: this installation does not allow http')
  if (!ports.includes(port))
    refuse(`must be of port ${ports.join(' or ')}, unless the operator names its host and port`)
  judgeHost(url, authority)
  return { url, isNamed: false }
}

const refuse = (why: string): never => {
  throw new RefusedAddress(`The address ${why}.`)
}

const DEFAULT_PORTS = { 'https:': 443, 'http:': 80 }

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? DEFAULT_PORTS[protocol as keyof typeof DEFAULT_PORTS] : Number(port)

// A name with a dot at its end is the same name.
const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')

function judgeHost(url: URL, authority: string): void {
  const host = hostOf(url)
  const address = host.replace(/^\[|\]$/g, '')
  if (host === '' || host === 'localhost' || host.endsWith('.localhost')) refuse(NOT_PUBLIC)
  if (isIP(address) === 0) return
  // 2130706433, 0x7f.1 and the like: nobody writes a public address so, except to get past somebody who reads it.
  if (isIP(address) === 4 && authority.replace(/\.?(:\d*)?$/, '') !== host) {
    refuse('must be written as a name or as four decimal numbers')
  }
  if (!isPublicAddress(address)) refuse(NOT_PUBLIC)
}

/** Why an address within somebody's network is refused, for the end of a sentence. */
export const NOT_PUBLIC =
  'does not lead to the public internet; the operator of the installation can allow its host and port'
