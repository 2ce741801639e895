// Writes the outline of a glyph as an entry of a TrueType `glyf` table (OpenType specification, "glyf": simple glyph).

export type OutlineCommand = { readonly command: string; readonly args: readonly number[] }

type Point = { readonly x: number; readonly y: number; readonly onCurve: boolean }

const ON_CURVE = 1

/** The entry for an outline of lines and quadratic curves: contours, no instructions, every coordinate in two bytes. */
export function encodeOutline(commands: readonly OutlineCommand[]): Buffer {
  const contours = contoursOf(commands)
  const points = contours.flat()
  const bytes: number[] = []
  const int16 = (value: number): void => {
    bytes.push((value >> 8) & 0xff, value & 0xff)
  }
  int16(contours.length)
  for (const value of box(points)) int16(value)
  let last = -1
  for (const contour of contours) {
    last += contour.length
    int16(last)
  }
  int16(0)
  for (const { onCurve } of points) bytes.push(onCurve ? ON_CURVE : 0)
  for (const axis of ['x', 'y'] as const) {
    let before = 0
    for (const point of points) {
      int16(point[axis] - before)
      before = point[axis]
    }
  }
  // Entries start at multiples of four bytes, so that both forms of the index can address them.
  while (bytes.length % 4 !== 0) bytes.push(0)
  return Buffer.from(bytes)
}

function contoursOf(commands: readonly OutlineCommand[]): Point[][] {
  const contours: Point[][] = []
  let contour: Point[] = []
  const close = (): void => {
    if (contour.length > 0) contours.push(contour)
    contour = []
  }
  const add = (x: number | undefined, y: number | undefined, onCurve: boolean): void => {
    contour.push({ x: Math.round(x ?? 0), y: Math.round(y ?? 0), onCurve })
  }
  for (const { command, args } of commands) {
    const [a, b, c, d] = args
    switch (command) {
      case 'moveTo':
        close()
        add(a, b, true)
        break
      case 'lineTo':
        add(a, b, true)
        break
      case 'quadraticCurveTo':
        add(a, b, false)
        add(c, d, true)
        break
      case 'closePath':
        close()
        break
      default:
        throw new Error(`a TrueType outline has no ${command}`)
    }
  }
  close()
  return contours
}

function box(points: readonly Point[]): [number, number, number, number] {
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  return points.length === 0 ? [0, 0, 0, 0] : [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}
