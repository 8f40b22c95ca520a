import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { aBuild, aGraph, aJob, aStep } from '../../../test/graphs.ts'
import { openStyle } from '../style.ts'
import { widthOf } from '../text.ts'
import type { Graph } from './graph.ts'
import { layOut } from './layout.ts'
import { WatchedBuild } from './model.ts'

const plain = openStyle({ color: false })

function draw(graph: Graph, { width = 80, height = 40, problem = null as string | null } = {}): string[] {
  const watched = new WatchedBuild(graph)
  watched.load(graph)
  return layOut(watched, {
    width,
    height,
    now: 61_000,
    style: plain,
    problem,
    interrupt: 'Ctrl-C ends watching. The build goes on.',
  })
}

const passedSteps = (count: number) => Array.from({ length: count }, (_, n) => aStep(`done-${n}`))
const passedJobs = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    aJob(`job-${n}`, `done-${n}`, { state: 'passed', started: 1000, finished: 2000 }),
  )

describe('the drawing of a build', () => {
  it('shows steps with state, duration, reason and attempt, and no waits', () => {
    const lines = draw(
      aGraph(
        [
          aStep('Compile'),
          aStep('w', { kind: 'wait', label: null }),
          aStep('Test'),
          aStep('Lint'),
          aStep('Pack'),
        ],
        [
          aJob('1', 'Compile', { state: 'passed', started: 1000, finished: 13_000 }),
          aJob('2', 'w', { state: 'passed' }),
          aJob('3', 'Test', {
            state: 'failed',
            started: 1000,
            finished: 2000,
            exit: 3,
            note: 'exit 3',
            attempt: 1,
          }),
          aJob('4', 'Lint', { state: 'failed', started: 1000, finished: 2000, soft: true, note: 'exit 1' }),
          aJob('5', 'Pack', { state: 'running', started: 31_000 }),
        ],
      ),
    )
    expect(lines).toEqual([
      'Build #12 of web on main  ● running  1 min',
      'Fix the login',
      '✓ passed    Compile  12 s',
      '✗ failed    Test  1 s, exit 3, attempt 2',
      '✗ failed    Lint  1 s, exit 1, does not count',
      '● running   Pack  30 s',
      '4 jobs, 1 failed, 1 running, 2 passed',
      'Ctrl-C ends watching. The build goes on.',
    ])
  })

  it('folds parallel jobs into one line, and names the failed ones', () => {
    const states = ['passed', 'failed', 'running', 'scheduled']
    const jobs = states.map((state, index) =>
      aJob(String(index), 'Test', {
        state,
        index,
        started: 1000,
        ...(state === 'failed' ? { note: 'exit 1', finished: 3000 } : {}),
      }),
    )
    expect(draw(aGraph([aStep('Test', { parallelism: 4 })], jobs)).slice(2, 4)).toEqual([
      '● failing   Test  1 min, 1 failed, 1 running, 1 passed, 1 waiting',
      '  ✗ failed    Test (2 of 4)  2 s, exit 1',
    ])
  })

  it('shows a group that has passed in one line, and one at work with its steps', () => {
    const steps = [
      aStep('g1', { kind: 'group', label: 'Checks' }),
      aStep('a', { group_id: 'g1' }),
      aStep('b', { group_id: 'g1' }),
      aStep('g2', { kind: 'group', label: 'Ship' }),
      aStep('c', { group_id: 'g2' }),
      aStep('d', { group_id: 'g2', kind: 'block', label: 'Release?' }),
    ]
    const lines = draw(
      aGraph(steps, [
        aJob('1', 'a', { state: 'passed', started: 1000, finished: 2000 }),
        aJob('2', 'b', { state: 'passed', started: 1000, finished: 4000 }),
        aJob('3', 'c', { state: 'passed', started: 1000, finished: 2000 }),
        aJob('4', 'd', { state: 'blocked', unblockable: true }),
      ]),
    )
    expect(lines.slice(2, 6)).toEqual([
      '✓ passed    Checks  3 s, 2 passed',
      '‖ blocked   Ship  1 min, 1 blocked, 1 passed',
      '  ✓ passed    c  1 s',
      '  ‖ blocked   Release?',
    ])
  })

  it('fits the height: folds what has passed first, and keeps what failed, is blocked or runs', () => {
    const steps = [
      ...passedSteps(50),
      aStep('Broken'),
      ...Array.from({ length: 20 }, (_, n) => aStep(`later-${n}`)),
      aStep('Now'),
    ]
    const jobs = [
      ...passedJobs(50),
      aJob('b', 'Broken', { state: 'failed', note: 'exit 1' }),
      ...Array.from({ length: 20 }, (_, n) => aJob(`l${n}`, `later-${n}`, { state: 'waiting' })),
      aJob('n', 'Now', { state: 'running' }),
    ]
    const lines = draw(aGraph(steps, jobs), { height: 10 })
    expect(lines).toHaveLength(8)
    expect(lines.slice(2, 6)).toEqual([
      '… passed or not run (50 lines)',
      '✗ failed    Broken  exit 1',
      '… waiting (20 lines)',
      '● running   Now',
    ])
    for (const height of [1, 2, 3, 5, 24])
      expect(draw(aGraph(steps, jobs), { height }).length).toBeLessThanOrEqual(height)
  })

  it('fits the width, also with wide characters and long names', () => {
    const steps = [aStep('a', { label: '長い名前'.repeat(30) }), aStep('b', { label: 'x'.repeat(300) })]
    const jobs = [
      aJob('1', 'a', { state: 'failed', note: 'y'.repeat(200) }),
      aJob('2', 'b', { state: 'running', started: 1000 }),
    ]
    const build = aBuild({ message: 'm'.repeat(500), branch: 'b'.repeat(200) })
    for (const width of [30, 40, 80, 200]) {
      const lines = draw(aGraph(steps, jobs, build), { width, problem: 'z'.repeat(500) })
      expect(Math.max(...lines.map((line) => widthOf(line)))).toBeLessThanOrEqual(width)
    }
  })

  it('keeps 4,000 jobs in as many lines as it has steps', () => {
    const steps = Array.from({ length: 8 }, (_, n) => aStep(`Part ${n}`, { parallelism: 500 }))
    const jobs = steps.flatMap((step) =>
      Array.from({ length: 500 }, (_, index) =>
        aJob(`${step.id}-${index}`, step.id, { state: 'running', index }),
      ),
    )
    const lines = draw(aGraph(steps, jobs), { height: 24 })
    expect(lines).toHaveLength(12)
    expect(lines.at(-2)).toBe('4000 jobs, 4000 running')
  })

  it('passes no control characters of the server to the terminal', () => {
    const evil = '\u001b[2J\u001b]0;title\u0007\u009b31m\r\nrow'
    const graph = aGraph(
      [aStep('a', { label: evil, key: evil }), aStep('g', { kind: 'group', label: evil })],
      [aJob('1', 'a', { state: 'failed', note: evil, label: evil })],
      aBuild({ message: evil, branch: evil, pipeline_slug: evil }),
    )
    const text = draw(graph, { problem: evil }).join('')
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    const colored = new WatchedBuild(graph)
    colored.load(graph)
    const style = openStyle({ color: true }, { isTTY: true }, {})
    const lines = layOut(colored, {
      width: 80,
      height: 40,
      now: 0,
      style,
      problem: evil,
      interrupt: 'Ctrl-C ends watching. The build goes on.',
    })
    expect(stripVTControlCharacters(lines.join(''))).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    expect(lines.join('').match(/\u001b\[[\d;]*m/g)?.length).toBe(lines.join('').match(/\u001b/g)?.length)
  })
})
