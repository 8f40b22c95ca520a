import { describe, expect, it } from 'vitest'
import { run, TestTerminal } from '../../test/running.ts'

describe('millrace run FILE: block and input steps', () => {
  const pipeline = `
    steps:
      - {command: "true", label: test}
      - block: Release
        prompt: Is it good?
        fields:
          - {text: Version, key: version, format: "[0-9.]+"}
          - {select: Where, key: where, default: eu, multiple: true,
             options: [{label: Europe, value: eu}, {label: America, value: us}]}
      - {label: ship, command: "buildkite-agent meta-data get version; buildkite-agent meta-data get where | tr '\\\\n' ','"}
  `

  it('hold the build when nobody is there to answer', async () => {
    const { state, states, terminal } = await run(pipeline)
    expect(state).toBe('blocked')
    expect(states).toEqual({ test: 'passed', Release: 'blocked', ship: 'blocked' })
    expect(terminal.lines).toContain('The build is blocked at Release.')
  })

  it('let it through with --unblock, with --field and defaults as answers', async () => {
    const once = await run(pipeline, { unblock: true, fields: new Map([['version', ['1.2']]]) })
    expect(once.state).toBe('passed')
    expect(once.terminal.lines).toContain('1.2eu')
    const fields = new Map([
      ['version', ['1.2']],
      ['where', ['us', 'eu']],
    ])
    const twice = await run(pipeline, { unblock: true, fields })
    expect(twice.terminal.lines).toContain('1.2us,eu')
  })

  it('stay blocked with --unblock when an answer is missing or wrong, and say so', async () => {
    const missing = await run(pipeline, { unblock: true, fields: new Map([['versoin', ['1']]]) })
    expect(missing.state).toBe('blocked')
    expect(missing.terminal.lines).toContain('Release: version is required.')
    expect(missing.terminal.lines).toContain('No step has the field versoin.')
    const wrong = await run(pipeline, { unblock: true, fields: new Map([['version', ['one']]]) })
    expect(wrong.state).toBe('blocked')
    expect(wrong.terminal.lines).toContain('Release: version does not have the expected format.')
  })

  it('ask the person at the terminal, until the answers are good', async () => {
    const terminal = new TestTerminal({ answers: ['y', 'one', '', 'Yes', '2.0', '2, eu'] })
    const { state } = await run(pipeline, { terminal })
    expect(state).toBe('passed')
    expect(terminal.lines).toContain('2.0us,eu')
    expect(terminal.questions.slice(0, 3)).toEqual(['Continue? [y/N] ', 'Version: ', 'Where [eu]: '])
    expect(terminal.output).toContain('Is it good?\n')
    expect(terminal.output).toContain('  1. Europe (eu)\n  2. America (us)\n')
  })

  it('stay blocked when the person says no or goes away', async () => {
    for (const answers of [['n'], [''], [], ['y']]) {
      expect((await run(pipeline, { terminal: new TestTerminal({ answers }) })).state).toBe('blocked')
    }
  })

  it('do not ask for what --field has answered', async () => {
    const terminal = new TestTerminal({ answers: ['y', ''] })
    await run(pipeline, { terminal, fields: new Map([['version', ['3']]]) })
    expect(terminal.questions).toEqual(['Continue? [y/N] ', 'Where [eu]: '])
  })
})
