// The limit for reads of the api: a bare Fastify route over the same database that reads one row, or fifty, with one query and no
// transaction, and answers it.
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
const app = Fastify()
app.get<{ Params: { id: string } }>('/customers/:id', async request => {
  const { rows } = await pool.query({
    name: 'one',
    text: 'select * from customers where id = $1',
    values: [request.params.id],
  })
  return rows[0]
})
app.get('/customers', async () => {
  const { rows } = await pool.query({
    name: 'list',
    text: 'select * from customers order by created_at desc, id limit 50',
  })
  return { data: rows }
})
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }))
