// Whose calls are counted together where the address of the caller is what is known of it.
import { isIP } from 'node:net'

/**
 * An IPv4 address as it is; of an IPv6 address the first 64 bits, since one network of a customer has all that follow. An IPv4
 * address written as IPv6 is the IPv4 address. A port, which some proxies name, does not count: each connection has another.
 */
export function networkOf(address: string): string {
  const text = withoutPort(address).replace(/%.*$/, '').toLowerCase()
  if (isIP(text) !== 6) return text
  // The URL parser writes it in the one short form, without dots.
  const [head = '', tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split('::')
  const groupsOf = (part: string | undefined): string[] => (part ? part.split(':') : [])
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last]
  const [high, low] = groups.slice(6).map(group => Number.parseInt(group, 16))
  if (
    groups.slice(0, 5).every(group => group === '0') &&
    groups[5] === 'ffff' &&
    high !== undefined &&
    low !== undefined
  )
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${groups.slice(0, 4).join(':')}::/64`
}

function withoutPort(address: string): string {
  const [, host = address] = /^\[(.*)\](?::\d+)?$/.exec(address) ?? /^([\d.]+):\d+$/.exec(address) ?? []
  return host
}
