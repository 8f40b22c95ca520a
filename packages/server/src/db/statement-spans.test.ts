import { expect, it } from 'vitest'
import { statementSpan } from './statement-spans.ts'

const summaryOf = (...texts: string[]) => statementSpan(texts).attributes['db.query.summary']

it('names what a statement does, and its tables', () => {
  expect(summaryOf('select 1')).toBe('SELECT')
  expect(summaryOf('select a from jobs j join "cluster_queues" q on q.id = $1')).toBe(
    'SELECT jobs, cluster_queues',
  )
  expect(summaryOf('insert into "clusters" ("id", "name") values ($1, $2)')).toBe('INSERT clusters')
  expect(summaryOf('update only jobs set state = $1')).toBe('UPDATE jobs')
  expect(summaryOf('\n  delete from graphile_worker.jobs where id = $1')).toBe('DELETE graphile_worker.jobs')
})

it('leaves out functions, and the names that a statement gives itself', () => {
  expect(
    summaryOf(`
      with given as materialized (select * from jsonb_to_recordset($1::jsonb) as w (id uuid)),
        moved as (update jobs j set state = $2 from given where j.id = given.id returning j.*)
      insert into events (job_id) select id from moved cross join lateral (select 1) l`),
  ).toBe('WITH jobs, events')
})

it('is one span for all statements of a round trip', () => {
  expect(statementSpan(['begin', 'select from builds', 'update jobs set a = $1', 'commit'])).toEqual({
    name: 'SELECT builds and 1 more',
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.summary': 'SELECT builds; UPDATE jobs',
      'db.operation.batch.size': 4,
    },
  })
  expect(statementSpan(['commit']).name).toBe('COMMIT')
})
