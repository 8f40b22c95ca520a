// The actions of the toolbar, the keys and the status line of a log.
import { download } from '../api/downloads.ts'
import { copyText } from '../parts/copy.ts'
import { showFailure, showToast } from '../parts/toasts/toasts.ts'
import { storePreferences, type Preferences } from './preferences.ts'
import { formatFragment, formatLines, type Lines } from './selection.ts'
import { nextTimeForm } from './rows/times.ts'
import { fetchTexts, textUrl } from './model/source.ts'
import { toggleGroup } from './rows/toggle-group.ts'
import type { OpenLog } from './use-log.ts'

interface ActionsInput {
  log: OpenLog
  lines: Lines | null
  onLines: (lines: Lines | null) => void
  preferences: Preferences
  setPreferences: (preferences: Preferences) => void
  askRow: () => void
  toggleFull: () => void
}

export type LogActions = ReturnType<typeof logActions>

export function logActions(input: ActionsInput) {
  const { log, lines, preferences } = input
  const { model, viewport, finder } = log
  const change = (changed: Partial<Preferences>) => {
    storePreferences(changed)
    input.setPreferences({ ...preferences, ...changed })
  }
  const place = (): Lines => lines ?? { from: viewport.read().topRow, to: viewport.read().topRow }
  const setAllGroups = (isOpen: boolean) =>
    model.setOpen(
      model.folding.groups.map(({ row }) => row),
      isOpen,
    )
  return {
    askRow: input.askRow,
    toggleFull: input.toggleFull,
    setAllGroups,
    focus: () => viewport.focus(),
    find: () => finder.focus(),
    step: (by: 1 | -1) => finder.step(by),
    changeTimes: () => change({ times: nextTimeForm(preferences.times) }),
    toggleWrap: () => change({ isWrapped: !preferences.isWrapped }),
    toggleFollow: () => (viewport.read().follow.isFollowing ? viewport.stop() : viewport.goToEnd()),
    goToEnd: () => viewport.goToEnd(),
    goToFailing: () => {
      if (model.failingRow !== null) viewport.goTo(model.failingRow)
    },
    goToRow: (row: number) => {
      const from = Math.min(Math.max(row, 1), model.total)
      input.onLines({ from, to: from })
      viewport.goTo(from)
    },
    toggleGroup: () => {
      const group = model.folding.groups[model.folding.groupOf(place().from)]
      if (group !== undefined) toggleGroup(log, group)
    },
    toggleAllGroups: () => {
      const isAnyOpen = model.folding.groups.some((_, index) => model.folding.isOpen(index))
      setAllGroups(!isAnyOpen)
    },
    copyLink: () => {
      const target = place()
      const fragment = formatFragment(model.address.job, target)
      const link = `${location.origin}${location.pathname}${location.search}${fragment}`
      void copy(link, `the link to ${formatLines(target)}`)
    },
    clearLines: () => input.onLines(null),
    copyLines: async () => {
      if (lines === null) return
      const texts = await fetchTexts(model.address, lines.from, lines.to)
      await copy(texts.join('\n'), texts.length === 1 ? '1 row' : `${texts.length.toLocaleString()} rows`)
    },
    download: () => {
      const { pipeline, build, job } = model.address
      download(textUrl(model.address), `${pipeline}-${build}-${job.slice(-8)}.log`).catch(showFailure)
    },
  }
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await copyText(text)
    showToast(`Copied ${what}`)
  } catch {
    showToast('The browser did not allow copying.', { tone: 'failed' })
  }
}
