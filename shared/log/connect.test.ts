import { errors } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { silentLogger } from '../process/logger.ts'
import { untilBrokerAnswers } from './connect.ts'

const refusedConnection = new errors.ConnectionError('connection refused', {
  cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
})

test.each([new errors.TimeoutError(), refusedConnection])(
  'a question that is not answered (%s) is asked again, and one that is refused is not',
  async silence => {
    let asked = 0
    const ask = async () => {
      asked += 1
      if (asked === 1) throw silence
      return 'led'
    }
    expect([await untilBrokerAnswers(ask, silentLogger), asked]).toEqual(['led', 2])
    for (const refusal of [new Error('PARTITIONS=3 does not match'), new errors.AuthorizationError('Violation')]) {
      const refused = () => {
        asked += 1
        return Promise.reject(refusal)
      }
      await expect(untilBrokerAnswers(refused, silentLogger)).rejects.toBe(refusal)
    }
    expect(asked).toBe(4)
  },
)
