import type { Group } from '../model/groups.ts'
import type { OpenLog } from '../use-log.ts'

/** A group that is closed while its header sticks leaves the reader at that header. */
export function toggleGroup({ model, viewport }: OpenLog, group: Group): void {
  const { folding } = model
  const isOpen = folding.isOpen(folding.groupOf(group.row))
  const isAbove = viewport.read().topRow > group.row
  model.setOpen([group.row], !isOpen)
  if (isOpen && isAbove) viewport.goTo(group.row, 'top')
}
