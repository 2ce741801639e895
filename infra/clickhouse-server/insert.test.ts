import { describe, expect, test } from 'vitest'
import { isInsert, parsePlainInsert } from './insert.ts'

describe('a plain INSERT is recognised, anything else is left to the engine to parse', () => {
  for (const [sql, expected] of [
    ['INSERT INTO t FORMAT JSONEachRow', { table: 't', columns: null, format: 'JSONEachRow' }],
    [
      'insert into `d`.`t` (a, `b`)\nformat jsoncompacteachrow\n',
      { table: 'd.t', columns: ['a', 'b'], format: 'JSONCompactEachRow' },
    ],
    [
      'INSERT INTO TABLE d.t (a) FORMAT JSONCompactEachRow;',
      { table: 'd.t', columns: ['a'], format: 'JSONCompactEachRow' },
    ],
    ['INSERT INTO t SETTINGS async_insert=0 FORMAT JSONEachRow', null],
    ['INSERT INTO t FORMAT CSV', null],
    ['INSERT INTO t SELECT 1', null],
    ['INSERT INTO `odd-name` FORMAT JSONEachRow', null],
    ['INSERT INTO t (* EXCEPT(a)) FORMAT JSONEachRow', null],
    ['INSERT INTO FUNCTION file(x) FORMAT JSONEachRow', null],
    ['SELECT 1 FORMAT JSONEachRow', null],
  ] as const)
    test(sql, () => expect(parsePlainInsert(sql)).toEqual(expected))

  test('any INSERT is one, in any case', () => {
    expect(isInsert(' insert into t values (1)')).toBe(true)
    expect(isInsert("select 'INSERT INTO t'")).toBe(false)
  })
})
