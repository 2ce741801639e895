import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('package-lock.json holds the packages of every platform, without which npm ci refuses it', () => {
  expect(() => execFileSync('node', ['infra/complete-lock.mjs', '--check'], { stdio: 'pipe' })).not.toThrow()
})
