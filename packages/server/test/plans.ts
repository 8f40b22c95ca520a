// What statements read, as PostgreSQL counts it. Run them on a database of their own, after `vacuum analyze`.
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely'
import type { Tables } from '../src/db/generated/tables.ts'
import type { Db } from '../src/db/pool.ts'
import type { TestApp } from './app.ts'

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

interface Read<Result> {
  result: Result
  /** Rows that scans of the tables handed on or threw away. */
  rows: number
  nodes: string[]
}

/** Runs what `work` asks, and then asks for the plan of each statement. */
export async function plansOf<Result>(
  { database: { pool } }: TestApp,
  work: (db: Db) => Promise<Result>,
): Promise<Read<Result>> {
  const queries: CompiledQuery[] = []
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      queries.push(query)
    },
  })
  const result = await work(db)
  const explain = async ({ sql: text, parameters }: CompiledQuery): Promise<PlanNode> => {
    const { rows } = await pool.query<{ 'QUERY PLAN': Array<{ Plan: PlanNode }> }>(
      `explain (analyze, format json) ${text}`,
      [...parameters],
    )
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
    if (plan === undefined) throw new Error('No plan.')
    return plan
  }
  const plans = await Promise.all(queries.map(explain))
  return {
    result,
    rows: plans.reduce((sum, plan) => sum + rowsRead(plan), 0),
    nodes: plans.flatMap(nodesOf),
  }
}

function rowsRead(node: PlanNode): number {
  const own =
    node['Relation Name'] === undefined
      ? 0
      : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return own + (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0)
}

const nodesOf = (node: PlanNode): string[] => [node['Node Type'], ...(node.Plans ?? []).flatMap(nodesOf)]
