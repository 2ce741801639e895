// Which addresses belong to the public internet. Everything else may be this machine, its network or its cloud, where a request
// of ours could reach what its sender cannot (security 8, row 22).
import { isIP } from 'node:net'

/** IANA's special-purpose addresses, and those that clouds serve their machines' credentials from. */
const IPV4_REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The metadata service of a cloud that uses a public address for it.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** The only part of IPv6 that is given out to be reached from everywhere. */
const IPV6_PUBLIC = '2000::/3'
/** What within it is not, or leads to an IPv4 address of the sender's choice: Teredo and 6to4. */
const IPV6_REFUSED = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
/** IPv4 addresses in IPv6 form: mapped, and translated by NAT64. What they lead to decides. */
const IPV6_OF_IPV4 = ['::ffff:0:0/96', '64:ff9b::/96']

/** Whether `address`, an IP address in any text form the system gives one in, may only be on the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return isPublicIpv4(ipv4Bits(address))
  // One with a zone is of a link, never public.
  if (family === 0 || address.includes('%')) return false
  const bits = ipv6Bits(address)
  if (IPV6_OF_IPV4_BLOCKS.some(block => isIn(block, bits))) return isPublicIpv4(bits & 0xffff_ffffn)
  return isIn(IPV6_PUBLIC_BLOCK, bits) && !IPV6_REFUSED_BLOCKS.some(block => isIn(block, bits))
}

type Block = { readonly first: bigint; readonly ignored: bigint }

const isIn = ({ first, ignored }: Block, bits: bigint): boolean => bits >> ignored === first >> ignored

function blockOf(text: string): Block {
  const [address = '', length] = text.split('/')
  const isIpv4 = isIP(address) === 4
  return {
    first: isIpv4 ? ipv4Bits(address) : ipv6Bits(address),
    ignored: BigInt((isIpv4 ? 32 : 128) - Number(length)),
  }
}

const isPublicIpv4 = (bits: bigint): boolean => !IPV4_REFUSED_BLOCKS.some(block => isIn(block, bits))

const join = (parts: readonly number[], bitsEach: bigint): bigint =>
  parts.reduce((bits, part) => (bits << bitsEach) | BigInt(part), 0n)

function ipv4Bits(address: string): bigint {
  return join(address.split('.').map(Number), 8n)
}

function ipv6Bits(address: string): bigint {
  // The URL parser knows every form of one, also that with four decimal numbers at its end, and writes it in hexadecimal.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined) => (text ? text.split(':').map(group => Number.parseInt(group, 16)) : [])
  const [before, after] = [groups(head), groups(tail)]
  return join([...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after], 16n)
}

const IPV4_REFUSED_BLOCKS = IPV4_REFUSED.map(blockOf)
const IPV6_PUBLIC_BLOCK = blockOf(IPV6_PUBLIC)
const IPV6_REFUSED_BLOCKS = IPV6_REFUSED.map(blockOf)
const IPV6_OF_IPV4_BLOCKS = IPV6_OF_IPV4.map(blockOf)
