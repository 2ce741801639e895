import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadConfig } from '../config/config.ts'
import { judgeUrl, OUTBOUND_SETTINGS, outboundPolicy, RefusedAddress } from './judge-url.ts'
import { isPublicAddress } from './public-address.ts'

const policyOf = (env: Record<string, string> = {}) => outboundPolicy(loadConfig(env, OUTBOUND_SETTINGS))
const STRICT = policyOf()
const WITH_HTTP = policyOf({ OUTBOUND_HTTP: 'allow' })
const isRefused = (url: string, policy = WITH_HTTP): boolean => {
  try {
    judgeUrl(url, policy)
    return false
  } catch (error) {
    if (error instanceof RefusedAddress) return true
    throw error
  }
}

test.each([
  'https://files.example.com/usage.csv?signature=abc',
  'https://files.example.com:443/',
  'HTTPS://FILES.EXAMPLE.COM/a%20b',
  'https://files.example.com./a',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::808:808]/',
])('%s may be asked', url => {
  expect(judgeUrl(url, STRICT)).toMatchObject({ reach: 'PUBLIC' })
})

test.each([
  // security 8, row 22
  'https://169.254.169.254/latest/meta-data',
  'http://2130706433',
  'https://[::ffff:7f00:1]/',
  // This machine
  'https://localhost/',
  'https://LOCALHOST./',
  'https://a.localhost/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0177.0.0.1/',
  'https://0x7f.0.0.1/',
  'https://0x7f000001/',
  'https://１２７.０.０.１/',
  'https://%31%32%37.0.0.1/',
  'https://127。0。0。1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b:1::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  // Its network, its cloud, and nobody's addresses
  'https://10.0.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://100.100.100.200/',
  'https://168.63.129.16/',
  'https://192.0.0.192/',
  'https://198.19.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  // A public address in a form nobody uses
  'https://134744072/',
  'https://0x8.0x8.0x8.0x8/',
  'https://8.8.2056/',
  // Users, ports, protocols and forms
  'https://user@files.example.com/',
  'https://user:password@files.example.com/',
  'https://@files.example.com/',
  'https://files.example.com@127.0.0.1/',
  'https://files.example.com:8443/',
  'https://files.example.com:80/',
  'http://files.example.com:443/',
  'https://files.example.com:22/',
  'ftp://files.example.com/',
  'file:///etc/passwd',
  'gopher://files.example.com/',
  'data:text/csv,reference',
  '//files.example.com/',
  'files.example.com/usage.csv',
  'https:files.example.com',
  'https:/files.example.com',
  'https://',
  'https:///127.0.0.1/',
  'https:\\\\127.0.0.1\\',
  'https://files.example.com\\@127.0.0.1/',
  ' https://files.example.com/',
  'https://files.example.com/a b',
  'ht\ntps://files.example.com/',
  'https://files.example.com/\r\nHost: other',
  'https://files.example.com/\u0000',
  '',
])('%j is refused', url => {
  expect(isRefused(url)).toBe(true)
})

test('http is refused unless the operator allows it, and then of port 80', () => {
  expect(isRefused('http://files.example.com/', STRICT)).toBe(true)
  expect(isRefused('http://files.example.com:80/', WITH_HTTP)).toBe(false)
  expect(isRefused('http://files.example.com:8080/', WITH_HTTP)).toBe(true)
})

test('a host and port that the operator names is allowed however it is spelled, and no other', () => {
  const policy = policyOf({ OUTBOUND_HOSTS: '127.0.0.1:9000, Files.Internal:8443,[FD00::5]:80' })
  for (const url of [
    'http://127.0.0.1:9000/a',
    'https://files.internal:8443/',
    'https://FILES.internal.:8443/',
    'http://[fd00:0::5]/',
  ]) {
    expect(judgeUrl(url, policy)).toMatchObject({ reach: 'ANY' })
  }
  for (const url of [
    'http://127.0.0.1:9001/',
    'http://127.0.0.1/',
    'http://127.0.0.2:9000/',
    'https://files.internal.example.com:8443/',
    'https://user@files.internal:8443/',
    'http://[fd00::5]:81/',
  ]) {
    expect(isRefused(url, policy)).toBe(true)
  }
})

test.each(['files.internal', 'files.internal:99999', 'http://a:80', 'a/b:80', '*:443', 'user@a:80'])(
  'OUTBOUND_HOSTS=%s is a fault',
  value => {
    expect(() => policyOf({ OUTBOUND_HOSTS: value })).toThrow(/OUTBOUND_HOSTS=.* must be hosts with their port/)
  },
)

test('a refusal says what to change and repeats nothing of the address', () => {
  for (const url of ['http://secret-host/?k=secret', 'https://10.0.0.1/?k=secret', 'https://me:secret@a/', 'secret']) {
    expect(() => judgeUrl(url, STRICT)).toThrow(/^The address (?!.*secret).+\.$/)
  }
})

// --- Laws over whole ranges

const RANGES_OF_IPV4: [bigint, number][] = [
  [0x00000000n, 8],
  [0x0a000000n, 8],
  [0x64400000n, 10],
  [0x7f000000n, 8],
  [0xa9fe0000n, 16],
  [0xac100000n, 12],
  [0xc0000000n, 24],
  [0xc0a80000n, 16],
  [0xc6120000n, 15],
  [0xe0000000n, 4],
  [0xf0000000n, 4],
]
const withinOf = ([first, length]: readonly [bigint, number], size: number) =>
  fc.bigInt({ min: first, max: first + (1n << BigInt(size - length)) - 1n })
const refusedIpv4 = fc.constantFrom(...RANGES_OF_IPV4).chain(range => withinOf(range, 32))

const partsOf = (bits: bigint): [number, number, number, number] => [
  Number(bits >> 24n),
  Number((bits >> 16n) & 255n),
  Number((bits >> 8n) & 255n),
  Number(bits & 255n),
]
const hex = (value: number | bigint) => value.toString(16)

/** Every way the system's own parser reads an IPv4 address in. */
function ipv4Forms(bits: bigint): string[] {
  const parts = partsOf(bits)
  const [a, b, c, d] = parts
  const octal = (part: number) => `0${part.toString(8)}`
  const dotted = parts.join('.')
  return [
    dotted,
    `${dotted}.`,
    String(bits),
    `0x${hex(bits)}`,
    `0X${hex(bits).toUpperCase()}`,
    `0${bits.toString(8)}`,
    parts.map(octal).join('.'),
    parts.map(part => `0x${hex(part)}`).join('.'),
    parts.map(part => `0x000${hex(part)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `0x${hex(a)}.${octal(b)}.${c}.${d}`,
    dotted.replaceAll('.', '。'),
    dotted.replaceAll(/\d/g, digit => String.fromCharCode(0xff10 + Number(digit))),
  ]
}

const groupsOf = (bits: bigint) => Array.from({ length: 8 }, (_, at) => (bits >> BigInt(112 - 16 * at)) & 0xffffn)

/** Full, padded, in capitals, shortened, and with its end as an IPv4 address. */
function ipv6Forms(bits: bigint): string[] {
  const groups = groupsOf(bits).map(hex)
  const full = groups.join(':')
  const short = new URL(`http://[${full}]`).hostname.slice(1, -1)
  const padded = groups.map(group => group.padStart(4, '0')).join(':')
  return [
    full,
    padded,
    padded.toUpperCase(),
    short,
    `${groups.slice(0, 6).join(':')}:${partsOf(bits & 0xffff_ffffn).join('.')}`,
  ]
}

test('an IPv4 address that is not public is refused in every form it can be written in', () => {
  fc.assert(
    fc.property(refusedIpv4, bits => {
      expect(isPublicAddress(partsOf(bits).join('.'))).toBe(false)
      for (const form of ipv4Forms(bits)) expect([form, isRefused(`https://${form}/`)]).toEqual([form, true])
    }),
  )
})

test('an IPv4 address that is not public is refused in IPv6, mapped, translated, tunnelled or compatible', () => {
  const around = fc.constantFrom<(bits: bigint) => bigint>(
    bits => (0xffffn << 32n) | bits,
    bits => (0x64ff9bn << 96n) | bits,
    bits => (0x64ff9b0001n << 80n) | bits,
    bits => (0x2002n << 112n) | (bits << 80n),
    bits => (0x20010000n << 96n) | (bits << 64n),
    bits => (0xffff0000n << 32n) | bits,
    bits => bits,
  )
  fc.assert(
    fc.property(refusedIpv4, around, (bits, wrap) => {
      for (const form of ipv6Forms(wrap(bits))) {
        expect([form, isPublicAddress(form)]).toEqual([form, false])
        expect([form, isRefused(`https://[${form}]/`)]).toEqual([form, true])
      }
    }),
  )
})

test('an IPv6 address outside what is given out, or in a part of it with a purpose of its own, is refused', () => {
  const within = fc
    .constantFrom<[bigint, number]>(
      [0n, 8],
      [0xfc00n << 112n, 7],
      [0xfe80n << 112n, 10],
      [0xfec0n << 112n, 10],
      [0xff00n << 112n, 8],
      [0x20010db8n << 96n, 32],
      [0x2002n << 112n, 16],
      [0x2001n << 112n, 23],
      [0x3fffn << 112n, 20],
      [0x0100n << 112n, 64],
    )
    .chain(range => withinOf(range, 128))
    // Those of IPv4 addresses are as these are.
    .filter(bits => bits >> 32n !== 0xffffn)
  fc.assert(
    fc.property(within, bits => {
      for (const form of ipv6Forms(bits)) {
        expect([form, isPublicAddress(form)]).toEqual([form, false])
        expect([form, isPublicAddress(`${form}%eth0`)]).toEqual([form, false])
        expect([form, isRefused(`https://[${form}]/`)]).toEqual([form, true])
      }
    }),
  )
})

test('all else is public, and so are its forms in IPv6 that lead to it', () => {
  const isOf =
    (bits: bigint) =>
    ([first, length]: readonly [bigint, number]) =>
      bits >> BigInt(32 - length) === first >> BigInt(32 - length)
  const others: [bigint, number][] = [
    [0xc0000200n, 24],
    [0xc0586300n, 24],
    [0xc6336400n, 24],
    [0xcb007100n, 24],
    [0xa83f8110n, 32],
  ]
  const open = withinOf([0n, 0], 32).filter(bits => ![...RANGES_OF_IPV4, ...others].some(isOf(bits)))
  fc.assert(
    fc.property(open, bits => {
      const dotted = partsOf(bits).join('.')
      expect(isPublicAddress(dotted)).toBe(true)
      expect(isPublicAddress(`::ffff:${dotted}`)).toBe(true)
      expect(isRefused(`https://${dotted}/`, STRICT)).toBe(false)
    }),
  )
  for (const address of ['2606:4700::1111', '2a00:1450:4001:82a::200e', '2400:cb00::1', '3ffe::1']) {
    expect(isPublicAddress(address)).toBe(true)
  }
  for (const nothing of ['', 'files.example.com', '1.2.3', '::1%lo']) expect(isPublicAddress(nothing)).toBe(false)
})

test.each([
  ['http://127.0.0.1:9000/hook', false],
  ['https://127.0.0.2/', false],
  ['http://[::ffff:127.0.0.1]:81/', false],
  ['https://[fd00::5]:8443/', false],
  // A name may lead there: that is judged when it is connected to.
  ['http://hooks.internal:8080/', false],
  ['http://localhost:9000/', false],
  ['https://example.com/', false],
  ['https://8.8.8.8/', false],
  ['https://10.0.0.1/', true],
  ['http://10.0.0.1:9000/', true],
  ['http://169.254.169.254/', true],
  ['https://[::1]/', true],
  ['http://8.8.8.8/', true],
  ['https://8.8.8.8:8443/', true],
  ['http://2130706433/', true],
  ['http://127.1:9000/', true],
])('with networks that the operator allows, %s is refused: %s', (url, refused) => {
  expect(isRefused(url, policyOf({ OUTBOUND_NETWORKS: '127.0.0.0/8, fd00::/64' }))).toBe(refused)
})
