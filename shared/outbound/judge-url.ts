// Whether an address from a tenant may be requested, as far as its text shows. What its name leads to is judged when it is
// connected to (outbound-request.ts).
import { BlockList, isIP } from 'node:net'
import type { Config } from '../config/config.ts'
import { parseUrl } from '../parse-url.ts'
import { isPublicAddress } from './public-address.ts'

/** What the operator allows requests to addresses that users give. */
export type OutboundPolicy = {
  /** Ports by protocol; a protocol without any is refused. */
  readonly ports: { readonly 'https:': readonly number[]; readonly 'http:': readonly number[] }
  /** `host:port` that may be asked by either protocol, whatever address it has. */
  readonly hosts: ReadonlySet<string>
  /** Addresses that may be asked by either protocol on any port, whatever name leads to them. */
  readonly networks?: BlockList
}

export const OUTBOUND_SETTINGS = ['OUTBOUND_HTTP', 'OUTBOUND_HOSTS', 'OUTBOUND_NETWORKS'] as const

export const outboundPolicy = (config: Config<(typeof OUTBOUND_SETTINGS)[number]>): OutboundPolicy => ({
  ports: { 'https:': [443], 'http:': config.OUTBOUND_HTTP === 'allow' ? [80] : [] },
  hosts: new Set(config.OUTBOUND_HOSTS),
  ...(config.OUTBOUND_NETWORKS.length === 0 ? {} : { networks: blocksOf(config.OUTBOUND_NETWORKS) }),
})

function blocksOf(networks: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    blocks.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return blocks
}

/** The address may not be asked; nothing was sent to it. The message says what to change, without the address itself. */
export class RefusedAddress extends Error {}

/**
 * Which addresses the host of a URL may have. `ANY`: the operator has named this host and port. `NETWORKS`: of the networks the
 * operator allows alone, because protocol or port are not those of the public internet. `PUBLIC`: public ones as well.
 */
export type Reach = 'ANY' | 'NETWORKS' | 'PUBLIC'
export type JudgedUrl = { readonly url: URL; readonly reach: Reach }

/** Whether a host of this reach may be connected to at `address`. */
export function isWithinReach(reach: Reach, address: string, { networks }: OutboundPolicy): boolean {
  if (reach === 'ANY') return true
  if (networks?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return true
  return reach === 'PUBLIC' && isPublicAddress(address)
}

/** Admits the host and port of this URL, which the operator chose, and nothing else. */
export function onlyHostOf(address: string): OutboundPolicy {
  const url = new URL(address)
  return { ports: { 'https:': [], 'http:': [] }, hosts: new Set([`${hostOf(url)}:${portOf(url)}`]) }
}

/** The URL, when it may be asked. Throws RefusedAddress. */
export function judgeUrl(text: string, policy: OutboundPolicy): JudgedUrl {
  // The parser would remove or turn these round in silence, and then it is not the address that was read by a person.
  if (/[\p{Cc}\s\\]/u.test(text)) refuse('must not hold white space, control characters or backslashes')
  const url = parseUrl(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return refuse('must be a URL that begins with https://')
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1]
  if (authority === undefined) return refuse('must have // after its protocol')
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    refuse('must not hold a user or a password')
  }
  const port = portOf(url)
  if (policy.hosts.has(`${hostOf(url)}:${port}`)) return { url, reach: 'ANY' }
  const ports = policy.ports[url.protocol]
  const reach = ports.includes(port) ? 'PUBLIC' : 'NETWORKS'
  judgeHost(url, authority, reach, policy)
  return { url, reach }
}

const refuse = (why: string): never => {
  throw new RefusedAddress(`The address ${why}.`)
}

const DEFAULT_PORTS = { 'https:': 443, 'http:': 80 }

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? DEFAULT_PORTS[protocol as keyof typeof DEFAULT_PORTS] : Number(port)

// A name with a dot at its end is the same name.
const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')

function judgeHost(url: URL, authority: string, reach: Reach, policy: OutboundPolicy): void {
  const host = hostOf(url)
  const address = host.replace(/^\[|\]$/g, '')
  const isName = isIP(address) === 0
  // What a name leads to is judged when it is connected to.
  const mayBeInside = isName ? policy.networks !== undefined : isWithinReach('NETWORKS', address, policy)
  if (host === '') refuse(NOT_PUBLIC)
  if (reach === 'NETWORKS' && !mayBeInside) refuseForm(url, policy)
  if (isName) {
    if (!mayBeInside && (host === 'localhost' || host.endsWith('.localhost'))) refuse(NOT_PUBLIC)
    return
  }
  // 2130706433, 0x7f.1 and the like: a public address is written so only to get past a reader.
  if (isIP(address) === 4 && authority.replace(/\.?(:\d*)?$/, '') !== host) {
    refuse('must be written as a name or as four decimal numbers')
  }
  if (!isWithinReach(reach, address, policy)) refuse(NOT_PUBLIC)
}

function refuseForm({ protocol }: URL, policy: OutboundPolicy): never {
  const ports = policy.ports[protocol as keyof OutboundPolicy['ports']]
  return ports.length === 0
    ? refuse('must begin with https://: this installation does not allow http')
    : refuse(`must be of port ${ports.join(' or ')}, unless the operator names its host and port`)
}

/** Why an address within a private network is refused, for the end of a sentence. */
export const NOT_PUBLIC =
  'does not lead to the public internet; the operator of the installation can allow its host and port'
