// The tests that follow each other in one process (vitest.config.ts) leave nothing behind that the next would meet.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../infra/services/project.ts'

const LEFT_BEHIND = /\bvi\.(?:mock|doMock|stub\w+|useFakeTimers)\(|process\.env(?:\.\w+|\['\w+'\]) =|process\.chdir\(/

const shared = ['api', 'identity'].flatMap(folder =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.it.test.ts'))
    .map(name => `${folder}/${name}`),
)

test('none of them mocks a module, stops the clock or changes the environment', () => {
  const changing = shared.filter(file => LEFT_BEHIND.test(readFileSync(join(PROJECT_ROOT, file), 'utf8')))
  expect(shared.length).toBeGreaterThan(50)
  expect(changing).toEqual([])
})

/** Statements over every tenant's rows, and what works on all of them. */
const ACROSS_TENANTS = /\btruncate\b|startOutboxRelay|startJobs\(/

test('none that shares a database with others changes the rows of every tenant', () => {
  const own = /\bstartOwnApi\(|\bcreateTestDatabase\(/
  const changing = shared
    .map(file => ({ file, text: readFileSync(join(PROJECT_ROOT, file), 'utf8') }))
    .filter(({ text }) => ACROSS_TENANTS.test(text) && !own.test(text))
  expect(changing.map(({ file }) => file)).toEqual([])
})
