import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configurationPage } from './configuration-page.ts'

test('docs/configuration.md is what the settings say (npm run docs:config)', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationPage())
})
