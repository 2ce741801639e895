// The logo of a platform's documents: a small picture that PDF readers show.
import { inflateSync } from 'node:zlib'
import { AppError } from '../../../../shared/errors.ts'
import type { Branding } from './schema.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_HEAD = 29
const DEPTH_AT = 24
const COLOR_TYPE_AT = 25
const INTERLACE_AT = 28
const SIDE_MAX = 4_000
const PIXELS_MAX = 80_000_000
/** Bytes a pixel by colour type: grey, colour, palette, grey with alpha, colour with alpha. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** Throws INVALID_FIELD for a logo that is not what its `content_type` says, is cut off, or is too large to draw. */
export function checkLogo({ logo }: Branding): void {
  if (!logo) return
  const file = Buffer.from(logo.content, 'base64')
  const fault = logo.content_type === 'image/png' ? pngFault(file) : jpegFault(file)
  if (fault)
    throw new AppError('INVALID_FIELD', `${fault} Send a PNG or JPEG file as base64.`, {
      field: 'branding.logo.content',
    })
}

function pngFault(file: Buffer): string | null {
  if (file.length < PNG_HEAD || !file.subarray(0, PNG.length).equals(PNG)) return 'The logo is no PNG file.'
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  if (Math.max(width, height) > SIDE_MAX) return `The logo has more than ${SIDE_MAX} pixels a side.`
  const channels = CHANNELS[file[COLOR_TYPE_AT] ?? -1]
  if (file[DEPTH_AT] !== 8 || file[INTERLACE_AT] !== 0 || channels === undefined) {
    return 'The PNG file must have 8 bits a channel and no interlace.'
  }
  return pixelsOf(file)?.length === height * (1 + width * channels) ? null : 'The PNG file is not whole.'
}

/** The unpacked pixels; null when they cannot be unpacked. A later document would fail on them, where nobody can mend it. */
function pixelsOf(file: Buffer): Buffer | null {
  const parts: Buffer[] = []
  for (let at = PNG.length; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at)
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  try {
    return inflateSync(Buffer.concat(parts), { maxOutputLength: PIXELS_MAX })
  } catch {
    return null
  }
}

const jpegFault = (file: Buffer): string | null => {
  const whole = file.length > 4 && file.readUInt16BE(0) === 0xffd8 && file.readUInt16BE(file.length - 2) === 0xffd9
  return whole ? null : 'The logo is no whole JPEG file.'
}
