// A random secret kept in a file that only its owner reads, made at the first start and found again at the next.
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The secret in `file`; 32 random bytes, hex. */
export function secretIn(file: string): string {
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}`
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  // Written aside and linked, so a start that is killed here leaves no half-written secret behind.
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } finally {
    rmSync(draft)
  }
  return readFileSync(file, 'utf8').trim()
}
