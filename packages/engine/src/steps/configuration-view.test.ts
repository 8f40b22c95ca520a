import { describe, expect, it } from 'vitest'
import { mustRead } from '../../test/reading.ts'
import { viewConfiguration } from './configuration-view.ts'

describe('viewConfiguration', () => {
  it('shows every kind of step and flattens groups', () => {
    const document = mustRead(`
agents: {queue: q}
steps:
  - {label: L, commands: [a, b], artifact_paths: [x, y], branches: main, env: {A: 1}, timeout: 5, concurrency: 2, concurrency_group: g, plugins: [p#v1, {q#v2: {k: v}}]}
  - wait
  - {block: B}
  - group: G
    steps:
      - {input: I}
      - {trigger: t, label: T, async: true, branches: "!main", parallelism: 2, build: {branch: b, env: {X: 1}, meta_data: {m: n}}}
`)
    expect(viewConfiguration(document)).toEqual([
      {
        type: 'script',
        name: 'L',
        command: 'a\nb',
        artifact_paths: 'x;y',
        branch_configuration: 'main',
        env: { A: '1' },
        timeout_in_minutes: 5,
        agent_query_rules: ['queue=q'],
        concurrency: 2,
        parallelism: null,
        plugins: [{ 'p#v1': null }, { 'q#v2': { k: 'v' } }],
      },
      { type: 'waiter' },
      { type: 'manual', label: 'B' },
      { type: 'manual', label: 'I' },
      {
        type: 'trigger',
        label: 'T',
        pipeline: 't',
        build: { message: null, branch: 'b', commit: null, env: { X: '1' } },
        async: true,
        branch_configuration: '!main',
        concurrency: null,
        parallelism: 2,
      },
    ])
  })
})
