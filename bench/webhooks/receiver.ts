// The endpoints of the tenants, in a process of their own: /ok answers at once, /refusing answers 503, /silent never answers, /slow
// answers 200 after nine seconds. GET /figures
// says how many deliveries the good ones got since it was last asked, and how old the events were,
// and how many attempts the others had.
import { createServer } from 'node:http'

let ages: number[] = []
let troubled = 0
const SLOW_MS = 9_000

const percentile = (share: number): number => ages[Math.min(ages.length - 1, Math.floor(ages.length * share))] ?? 0

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const path = request.url ?? ''
    if (path === '/figures') {
      ages.sort((a, b) => a - b)
      const figures = { count: ages.length, p50Ms: percentile(0.5), p99Ms: percentile(0.99), troubled }
      if (request.method === 'DELETE') {
        ages = []
        troubled = 0
      }
      response.writeHead(200).end(JSON.stringify(figures))
    } else if (path.startsWith('/ok')) {
      const body: { data: { made_at: number } } = JSON.parse(Buffer.concat(parts).toString())
      ages.push(Date.now() - body.data.made_at)
      response.writeHead(200).end()
    } else {
      troubled += 1
      if (path.startsWith('/refusing')) response.writeHead(503).end()
      if (path.startsWith('/slow')) setTimeout(() => response.writeHead(200).end(), SLOW_MS)
    }
  })
})
server.keepAliveTimeout = 1_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }))
})
process.once('SIGTERM', () => {
  server.closeAllConnections()
  server.close()
})
