import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, run } from '../../../test/running.ts'

describe('millrace run FILE: buildkite-agent in a job', () => {
  it('uploads steps from a file, standard input or the usual place, with the variables of the job', async () => {
    const folder = aFolder({
      'more.yml': 'steps: [{label: "from $WHERE", command: "true"}]',
      '.buildkite/pipeline.yml': 'steps: [{label: usual, command: "echo $$ADDED"}]\nenv: {ADDED: added}',
    })
    const { state, states, terminal } = await run(
      `
      steps:
        - label: up
          command:
            - export WHERE=file
            - buildkite-agent pipeline upload more.yml
            - "printf 'steps: [{label: piped, command: pwd}]' | buildkite-agent pipeline upload"
            - buildkite-agent pipeline upload
        - wait
        - {label: last, command: "true"}
      `,
      { folder },
    )
    expect(state).toBe('passed')
    expect(states).toEqual({
      up: 'passed',
      usual: 'passed',
      piped: 'passed',
      'from file': 'passed',
      last: 'passed',
    })
    expect(terminal.lines).toContain('Uploaded 1 step from more.yml.')
    expect(terminal.output).toContain('added\n')
  })

  it('refuses an upload that is wrong, with the problem, and adds nothing', async () => {
    const folder = aFolder({
      'bad.yml': 'steps: [{comand: x}]',
      'taken.yml': 'steps: [{command: x, key: up}]',
    })
    const { states, terminal, state } = await run(
      `
      steps:
        - label: up
          key: up
          command: |
            buildkite-agent pipeline upload bad.yml || echo "status $$?"
            buildkite-agent pipeline upload taken.yml || echo "status $$?"
            buildkite-agent pipeline upload absent.yml || echo "status $$?"
            buildkite-agent pipeline upload --loud || echo "status $$?"
            buildkite-agent step get label || echo "status $$?"
      `,
      { folder },
    )
    expect(state).toBe('passed')
    expect(states).toEqual({ up: 'passed' })
    expect(terminal.output).toContain('bad.yml:1:9: ')
    expect(terminal.output).toContain('taken.yml: The key "up" is already used by another step of this build')
    expect(terminal.output).toContain('absent.yml cannot be read (ENOENT).')
    expect(terminal.output).toContain('A local run has no buildkite-agent step get.')
    expect(terminal.lines.filter((line) => line === 'status 1')).toHaveLength(5)
  })

  it('leaves variables alone with --no-interpolation, and replaces what has not started with --replace', async () => {
    const folder = aFolder({
      'more.yml': 'steps: [{label: new, command: "echo $UNSET-kept", env: {UNSET: set}}]',
    })
    const { states, terminal } = await run(
      `
      steps:
        - {label: up, command: buildkite-agent pipeline upload --replace --no-interpolation more.yml}
        - wait
        - {label: old, command: "true"}
      `,
      { folder },
    )
    expect(states).toEqual({ up: 'passed', new: 'passed' })
    expect(terminal.lines).toContain('set-kept')
  })

  it('keeps meta-data for all jobs of the build', async () => {
    const { terminal, state } = await run(`
      steps:
        - command:
            - buildkite-agent meta-data set a "one  two"
            - printf 'three\\nfour' | buildkite-agent meta-data set b
        - wait
        - command: |
            buildkite-agent meta-data get a; echo .
            buildkite-agent meta-data get b; echo .
            buildkite-agent meta-data get c --default none; echo .
            buildkite-agent meta-data get c || echo "get $$?"
            buildkite-agent meta-data exists a && echo "a is there"
            buildkite-agent meta-data exists c || echo "exists $$?"
            buildkite-agent meta-data set d " " || echo "blank $$?"
            buildkite-agent meta-data keys
    `)
    expect(state).toBe('passed')
    const text = terminal.output
    expect(text).toContain(
      'one  two.\nthree\nfour.\nnone.\nNo meta-data has been set for c.\nget 1\na is there\n',
    )
    expect(text).toContain('exists 100\nThe value must not be blank.\nblank 1\na\nb\n')
  })

  it('leaves alone what is piped to the commands around it', async () => {
    const { terminal } = await run(`
      steps:
        - command: |
            printf 'x\\ny\\n' | while read name; do
              buildkite-agent meta-data exists a || echo "still $$name"
            done
    `)
    expect(terminal.lines).toEqual(expect.arrayContaining(['still x', 'still y']))
  })

  it('shows annotations', async () => {
    const { terminal } = await run(`
      steps: [{label: a, command: "echo all good | buildkite-agent annotate --style success --context c"}]
    `)
    expect(terminal.output).toContain('a annotates (success):\nall good\n')
  })

  it('keeps artifacts as they were uploaded, by command and by artifact_paths, for other jobs', async () => {
    const { terminal, state, folder } = await run(`
      steps:
        - label: make
          key: make
          command: |
            mkdir -p out/deep; echo one > out/a.txt; echo two > out/deep/b.txt
            echo first > c.log; buildkite-agent artifact upload c.log; echo changed > c.log
          artifact_paths: "out/**/*.txt"
        - {label: other, command: "echo 3 > d.log; buildkite-agent artifact upload 'd.*;nothing' --job x"}
        - wait
        - command: |
            rm -rf out c.log d.log
            buildkite-agent artifact download 'out/*' got/
            buildkite-agent artifact download --step make '*.log' .
            cat got/out/a.txt got/out/deep/b.txt c.log
            [ -e d.log ] || echo "only of make"
            buildkite-agent artifact search '*.log' --format '%p=%s\\n'
            buildkite-agent artifact shasum c.log --sha256
            buildkite-agent artifact shasum '*' || echo "two $$?"
            buildkite-agent artifact download absent . || echo "absent $$?"
            buildkite-agent artifact search absent --allow-empty-results && echo "empty $$?"
            buildkite-agent artifact download '*' got --build another || echo "another $$?"
    `)
    expect(terminal.output).toContain('one\ntwo\nfirst\nonly of make\n')
    expect(terminal.lines).toEqual(expect.arrayContaining(['c.log=6', 'd.log=2']))
    expect(terminal.lines).toContain(createHash('sha256').update('first\n').digest('hex'))
    expect(terminal.lines).toEqual(
      expect.arrayContaining(['two 1', 'absent 1', 'empty 0', 'another 1', 'No artifacts match absent.']),
    )
    expect(state).toBe('passed')
    expect(existsSync(join(folder, 'got', 'out', 'deep', 'b.txt'))).toBe(true)
  })

  it('fails a job whose artifact_paths are malformed, and says so', async () => {
    const { terminal, states } = await run(
      'steps: [{label: a, command: "true", artifact_paths: "out/{a"}, {label: b, command: "true", artifact_paths: none}]',
    )
    expect(states).toEqual({ a: 'failed', b: 'passed' })
    expect(terminal.output).toContain('a: its artifacts cannot be kept: the pattern "out/{a" is malformed.')
    expect(terminal.lines).toContain('b: no files match none.')
  })

  it('hands out secrets from the environment, and removes annotations', async () => {
    const { terminal } = await run(
      `
      steps:
        - label: a
          command: |
            echo "got $$(buildkite-agent secret get DEPLOY_KEY)"
            buildkite-agent secret get OTHER_KEY || echo "status $$?"
            buildkite-agent annotation remove --context c
      `,
      { outerEnv: { PATH: process.env['PATH'] ?? '', DEPLOY_KEY: 'xyz' } },
    )
    expect(terminal.lines).toEqual(
      expect.arrayContaining(['got xyz', 'status 1', 'a removes the annotation c.']),
    )
    expect(terminal.output).toContain('Secrets are taken from the environment, and it lacks OTHER_KEY.')
  })
})
