import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { forOlderGlibc } from './older-glibc.ts'

const require = createRequire(import.meta.url)
const folder = dirname(require.resolve('@btc-vision/uwebsockets.js'))
test.each(['x64', 'arm64'].flatMap(arch => [115, 127, 137].map(abi => `uws_linux_${arch}_${abi}.node`)))(
  '%s is changed in a few bytes, and once only',
  name => {
    const original = readFileSync(join(folder, name))
    const before = Buffer.from(original)
    const copy = forOlderGlibc(original)
    expect(original.equals(before)).toBe(true)
    expect(copy.length).toBe(original.length)
    const changed = copy.filter((byte, at) => byte !== original[at]).length
    // A mark at the version, and of each of two or three functions its name and its version.
    expect(changed).toBeGreaterThanOrEqual(1 + 2 * 2)
    expect(changed).toBeLessThanOrEqual(1 + 3 * 4)
    expect(forOlderGlibc(copy).equals(copy)).toBe(true)
  },
)

test('an object that needs more of the new glibc is refused by the name of what it needs', () => {
  const original = readFileSync(join(folder, 'uws_linux_x64_127.node'))
  const text = original.indexOf('__isoc23_strtoul')
  original.write('__isoc99', text)
  expect(() => forOlderGlibc(original)).toThrow('it needs __isoc99_strtoul of GLIBC_2.38')
  expect(() => forOlderGlibc(Buffer.alloc(64))).toThrow('it is no shared object')
})

test.runIf(process.platform === 'linux')(
  'the copy is loaded and listens, by an old glibc as by a new one',
  async () => {
    const name = `uws_linux_${process.arch}_${process.versions.modules}.node`
    const temporary = mkdtempSync(join(tmpdir(), 'millrace-uws-test-'))
    const copy = join(temporary, name)
    writeFileSync(copy, forOlderGlibc(readFileSync(join(folder, name))))
    const uws: typeof import('@btc-vision/uwebsockets.js') = require(copy)
    rmSync(temporary, { recursive: true })
    const app = uws.App().get('/*', response => void response.end(String(Number.parseInt('101', 10))))
    const socket = await new Promise<Parameters<typeof uws.us_listen_socket_close>[0] | false>(resolve =>
      app.listen('127.0.0.1', 0, resolve),
    )
    if (socket === false) throw new Error('it does not listen')
    const answer = await fetch(`http://127.0.0.1:${uws.us_socket_local_port(socket)}/`)
    expect(await answer.text()).toBe('101')
    uws.us_listen_socket_close(socket)
  },
)
