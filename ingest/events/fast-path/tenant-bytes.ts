// A tenant as bytes: how it is written in a line, and what its references are hashed behind.
import { hash } from 'node:crypto'
import type { ApiKeyIdentity } from '../../../shared/access/live-keys.ts'
import { REFERENCE_MAX } from '../parse/reading.ts'
import { AsciiText, copyBytes, PADDING_BYTES } from './bytes.ts'

export type TenantBytes = {
  /** In a line, from the quote before the platform to the quote before the reference. */
  readonly line: AsciiText
  readonly references: ReferenceHasher
}

/** Where references of one tenant are hashed: the same bytes before each, and a view for each length. */
export class ReferenceHasher {
  private readonly bytes: Buffer
  private readonly view: DataView
  private readonly prefix: number
  private readonly views: Uint8Array[]

  constructor(prefix: string) {
    this.bytes = Buffer.alloc(prefix.length + REFERENCE_MAX + PADDING_BYTES)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    this.prefix = this.bytes.write(prefix, 'latin1')
    this.views = Array.from({ length: REFERENCE_MAX + 1 }, (_, length) => this.bytes.subarray(0, this.prefix + length))
  }

  /** The SHA-256 of the prefix and a reference, as eventHash takes it, a character a byte. */
  digest(from: DataView, start: number, length: number): string {
    copyBytes(from, start, length, this.view, this.prefix)
    return hash('sha256', this.views[length] ?? this.bytes, 'binary')
  }
}

let last: { identity: ApiKeyIdentity; bytes: TenantBytes } | null = null
const known = new WeakMap<ApiKeyIdentity, TenantBytes>()

/** The bytes of the tenant a key belongs to; made once a key. Our ids are ASCII and need no escape. */
export function tenantBytes(identity: ApiKeyIdentity): TenantBytes {
  if (last?.identity === identity) return last.bytes
  const { platformId, environment } = identity
  const bytes = known.get(identity) ?? {
    line: new AsciiText(`"${platformId}","${environment}","`),
    references: new ReferenceHasher(`${platformId}\n${environment}\n`),
  }
  known.set(identity, bytes)
  last = { identity, bytes }
  return bytes
}
