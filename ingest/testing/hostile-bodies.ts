// Bodies nobody honest sends, drawn from a seed: good ones cut, spliced and with bytes removed, and good ones with one member replaced.
import { goodEvent } from './samples.ts'

const pick = <T>(random: () => number, list: readonly [T, ...T[]]): T =>
  list[Math.floor(random() * list.length)] ?? list[0]
const below = (random: () => number, most: number): number => Math.floor(random() * most)

/** Pieces that have broken parsers before: of JSON, of numbers, of times, of text. */
const PIECES: readonly [string, ...string[]] = [
  ...([
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    '\\u0000',
    '\\ud800',
    '\\udfff',
    '\\u0061',
    '\\x',
    '/*',
    '//',
  ] as const),
  ...[
    'null',
    'true',
    'NaN',
    'Infinity',
    '-0',
    '1e400',
    '1E-400',
    '0x10',
    '01',
    '.5',
    '5.',
    '+1',
    '9'.repeat(400),
    '١٢',
  ],
  ...[
    '"__proto__":',
    '"constructor":{"prototype":{}},',
    '"reference":"x",',
    '"toString":1',
    '"meter_datas":[',
    '"":""',
  ],
  ...[
    '2026-02-30T00:00:00Z',
    '0000-00-00T00:00:00Z',
    '+15:00',
    '23:59:60',
    '\u2028',
    '\u0000',
    '\u007f',
    '\ufeff',
    '\ud83d',
  ],
  ...[
    '['.repeat(100),
    '{"a":'.repeat(40),
    '\t',
    '\r\n',
    ' '.repeat(50),
    'é',
    '\u202e',
    'requests',
    'größe \\"x\\"',
    'tokens',
  ],
]

const VALUES: readonly [unknown, ...unknown[]] = [
  undefined,
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    '',
    ' ',
    'x',
    'x'.repeat(255),
    'x'.repeat(256),
    'a\u0000b',
    '\ud800',
    'a\nb',
  ],
  ...[
    '1',
    '-0',
    '0.000000000001',
    '1e5',
    '0x10',
    ' 1 ',
    '1,5',
    '١',
    '9'.repeat(26),
    '9'.repeat(10_000),
    'NaN',
    '+1',
    '.1',
  ],
  ...['2026-01-31T10:00:00Z', '2026-01-31T10:00:00', '2026-01-31T10:00:00.123456789+01:00', '9999-01-01T00:00:00Z'],
  ...[
    [],
    {},
    [[]],
    [null],
    { number: '1' },
    [{ reference: 'tokens', number: '1' }],
    [{ reference: '__proto__', value: 'x' }],
  ],
  ...[
    [{ reference: 'cost', amount: { quantity: '1', currency: 'EUR' } }],
    [{ reference: '7', value: '0x7' }],
    'requests',
  ],
]
const NAMES: readonly [string, ...string[]] = [
  ...([
    'reference',
    'customer_reference',
    'customer_id',
    'meter_reference',
    'meter_id',
    'timestamp',
    'meter_values',
  ] as const),
  ...['meter_properties', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'id', 'meter_datas', ''],
]

function withOneReplaced(random: () => number): unknown {
  const event: Record<string, unknown> = goodEvent()
  for (let times = 1 + below(random, 2); times > 0; times -= 1) {
    const name = pick(random, NAMES)
    // Assigned as data: a plain assignment of __proto__ would set the prototype.
    Object.defineProperty(event, name, {
      value: pick(random, VALUES),
      enumerable: true,
      configurable: true,
      writable: true,
    })
    if (random() < 0.2) delete event[pick(random, NAMES)]
  }
  return event
}

function wellFormed(random: () => number): string {
  const one = () => (random() < 0.6 ? goodEvent() : withOneReplaced(random))
  const kind = random()
  if (kind < 0.6) return JSON.stringify(one())
  const list = Array.from({ length: below(random, random() < 0.02 ? 60 : 4) }, one)
  return JSON.stringify(kind < 0.8 ? list : { meter_datas: list })
}

/** Changes `body` a few times: bytes flipped, cut out, repeated, or a piece put in. */
export function withBytesRemoved(random: () => number, body: Buffer): Buffer {
  let bytes = body
  for (let times = 1 + below(random, 3); times > 0; times -= 1) {
    const at = below(random, bytes.length + 1)
    const end = Math.min(bytes.length, at + below(random, 20))
    switch (below(random, 5)) {
      case 0:
        bytes = Buffer.from(bytes)
        if (at < bytes.length) bytes[at] = below(random, 256)
        break
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
        break
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
        break
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(pick(random, PIECES)), bytes.subarray(at)])
        break
      default:
        bytes = bytes.subarray(0, at)
    }
  }
  return bytes
}

/** The next body. */
export function hostileBody(random: () => number): Buffer {
  const body = Buffer.from(wellFormed(random))
  return random() < 0.6 ? withBytesRemoved(random, body) : body
}
