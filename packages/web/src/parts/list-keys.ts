// The arrow keys in lists: up and down from row to row, left and right within a row. A row is one stop of Tab, its link; Enter follows
// it. Rows have `data-list-row`; what they have besides the link has `tabIndex={-1}`, or their list the ref of `useRowStops`.
import { useEffect, useRef, type RefObject } from 'react'
import { useKeys } from './keys.ts'

export const rowSelector = '[data-list-row]'

/** For pages with rows. */
export function useListKeys(): void {
  useKeys([
    { keys: 'ArrowDown', label: 'Next row', run: () => moveBy(1), when: isInList },
    { keys: 'ArrowUp', label: 'Previous row', run: () => moveBy(-1), when: isInList },
    { keys: 'ArrowRight', label: 'Next in the row', run: () => moveWithinRow(1), when: hasMore },
    { keys: 'ArrowLeft', label: 'Previous in the row', run: () => moveWithinRow(-1), when: hasMore },
  ])
}

/** For a list whose rows have parts that know nothing of lists: Tab comes to the first control of each row alone. */
export function useRowStops<List extends HTMLElement>(): RefObject<List | null> {
  const list = useRef<List>(null)
  useEffect(() => {
    // There the arrow keys are not ours.
    if (list.current?.closest('[role=dialog]')) return
    for (const row of list.current?.querySelectorAll(rowSelector) ?? []) {
      const first = rowControl(row)
      for (const control of controlsOf(row)) control.tabIndex = control === first ? 0 : -1
    }
  })
  return list
}

/** The focus is on a row, or on nothing that has arrow keys of its own. */
function isInList(): boolean {
  const focused = document.activeElement
  const isNowhere = focused === null || focused === document.body || focused.matches('h1, main')
  return (isNowhere || focused.closest(rowSelector) !== null) && rowsToWalk().length > 0
}

/** A row without a control is only read. */
const rowsToWalk = (): Element[] =>
  [...document.querySelectorAll(rowSelector)].filter((row) => rowControl(row) !== null)

const hasMore = () => controlsOfRow().length > 1

function moveBy(step: 1 | -1): void {
  const rows = rowsToWalk()
  const at = rows.findIndex((each) => each.contains(document.activeElement))
  const next = at === -1 ? rows.at(step === 1 ? 0 : -1) : rows[at + step]
  const control = next && rowControl(next)
  control?.focus()
  control?.scrollIntoView({ block: 'nearest' })
}

/** The first that a row is reached by. */
export const rowControl = (row: Element): HTMLElement | null =>
  row.querySelector<HTMLElement>('.row-link') ?? row.querySelector<HTMLElement>('a, button')

const controlsOf = (row: Element): HTMLElement[] => [...row.querySelectorAll<HTMLElement>('a, button')]

function controlsOfRow(): HTMLElement[] {
  const row = document.activeElement?.closest(rowSelector)
  return row == null ? [] : controlsOf(row)
}

/** Around, so that the last control of a row is near too. */
function moveWithinRow(step: 1 | -1): void {
  const controls = controlsOfRow()
  const at = controls.findIndex((control) => control === document.activeElement)
  controls.at((at + step) % controls.length)?.focus()
}
