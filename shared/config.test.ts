import { expect, test } from 'vitest'
import { loadConfig } from './config.ts'

test('defaults fill what is not set', () => {
  expect(loadConfig({}, ['PORT_BASE', 'HOST', 'BASE_URL'])).toEqual({
    PORT_BASE: 8080,
    HOST: '127.0.0.1',
    BASE_URL: null,
  })
})

test('every fault is named at once', () => {
  const faulty = () =>
    loadConfig({ PORT_BASE: '80x', CLICKHOUSE_URL: 'tcp://h' }, ['PORT_BASE', 'CLICKHOUSE_URL', 'DATABASE_URL'])
  expect(faulty).toThrow(/PORT_BASE="80x".*[\s\S]*CLICKHOUSE_URL="tcp:\/\/h"[\s\S]*DATABASE_URL is not set/)
})
