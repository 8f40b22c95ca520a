import { expect, it } from 'vitest'
import { RequestTimes } from './request-times.ts'

it('counts requests by how long they took, each bound with those below it', () => {
  const times = new RequestTimes()
  for (const seconds of [0.002, 0.003, 0.6, 11, 12]) times.add('GET', '/v2/user', 200, seconds)
  times.add('GET', '/v2/user', 404, 0.001)
  times.add('POST', '/v2/user', 200, 0.001)
  const text = times.toText()
  expect(text).toMatch(
    /^# HELP millrace_http_request_seconds .+\n# TYPE millrace_http_request_seconds histogram\n/,
  )
  const ofUser = (line: string) => line.includes('method="GET",route="/v2/user",status="200"')
  expect(
    text
      .split('\n')
      .filter(ofUser)
      .map((line) => line.replace(/^\w+?_seconds_(\w+)\{(?:le="([^"]+)",)?[^}]+\} (.+)$/, '$1 $2 $3')),
  ).toEqual([
    'bucket 0.002 1',
    ...['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5'].map((bound) => `bucket ${bound} 2`),
    ...['1', '2.5', '5', '10'].map((bound) => `bucket ${bound} 3`),
    'bucket +Inf 5',
    'sum  23.605',
    'count  5',
  ])
  expect(text).toContain('_count{method="GET",route="/v2/user",status="404"} 1\n')
  expect(text).toContain('_count{method="POST",route="/v2/user",status="200"} 1\n')
})
