import { describe, expect, it } from 'vitest'
import { problemsOf } from '../configuration-problems.ts'
import { checkConfiguration, isStepList, viewSteps, writeSteps } from './configuration.ts'

const owner = { organizationId: 'an organization', sender: 'a user' }

describe('checkConfiguration', () => {
  it('says line, column, step and cause, with the nearest right name', async () => {
    expect(await checkConfiguration('steps:\n  - label: test\n    comand: make\n', owner)).toEqual([
      {
        field: 'configuration',
        code: expect.stringMatching(/^line 2, column 5.*missing a type.*`command`\?$/),
      },
    ])
  })

  it('leaves variables as they are written', async () => {
    expect(await checkConfiguration('steps:\n  - command: make ${TARGET?}\n', owner)).toEqual([])
    expect(await viewSteps('steps:\n  - command: make $TARGET\n', owner)).toMatchObject([
      { command: 'make $TARGET' },
    ])
  })
})

describe('writeSteps', () => {
  it('writes a document that reads back as the steps given', async () => {
    const configuration = writeSteps([
      {
        type: 'script',
        name: 'Test: "all" # of it',
        command: 'make\nmake install',
        artifact_paths: 'log/*',
        branch_configuration: 'main !wip',
        env: { A: '1', B: 2 },
        timeout_in_minutes: 5,
        agent_query_rules: ['queue=big', 'os=linux'],
      },
      { type: 'waiter' },
      { type: 'manual', label: 'Go?' },
      {
        type: 'trigger',
        label: 'Deploy',
        trigger_project_slug: 'deploy',
        trigger_commit: 'HEAD',
        trigger_branch: 'main',
        trigger_async: true,
      },
    ])
    expect(await problemsOf(configuration, owner)).toEqual([])
    expect(isStepList(configuration)).toBe(true)
    const view = await viewSteps(configuration, owner)
    expect(view).toMatchObject([
      {
        type: 'script',
        name: 'Test: "all" # of it',
        command: 'make\nmake install',
        artifact_paths: 'log/*',
        branch_configuration: 'main !wip',
        env: { A: '1', B: '2' },
        timeout_in_minutes: 5,
        agent_query_rules: ['queue=big', 'os=linux'],
      },
      { type: 'waiter' },
      { type: 'manual', label: 'Go?' },
      {
        type: 'trigger',
        label: 'Deploy',
        pipeline: 'deploy',
        build: { commit: 'HEAD', branch: 'main' },
        async: true,
      },
    ])
    expect(await viewSteps(writeSteps(view), owner)).toEqual(view)
  })

  it('knows a list of no steps again, and text that people wrote as text', async () => {
    expect(isStepList(writeSteps([]))).toBe(true)
    expect(isStepList('steps: []')).toBe(false)
    expect(isStepList('{"steps": []}')).toBe(false)
  })
})
