// Two panes with a border that can be moved with the pointer and with the arrow keys.
import { useRef, type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { largest, smallest, type Dock } from './panel-layout.ts'
import styles from './SplitPane.module.css'

interface Props {
  dock: Dock
  /** Of the panel, in percent. */
  size: number
  onResize: (percent: number) => void
  children: ReactNode
  panel: ReactNode
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: 2, ArrowUp: 2, ArrowRight: -2, ArrowDown: -2 }

export function SplitPane({ dock, size, onResize, children, panel }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const drag = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || box.current === null) return
    const { right, bottom, width, height } = box.current.getBoundingClientRect()
    onResize(
      dock === 'right' ? ((right - event.clientX) / width) * 100 : ((bottom - event.clientY) / height) * 100,
    )
  }
  const move = (event: KeyboardEvent) => {
    const step = steps[event.key]
    const target = event.key === 'Home' ? largest : event.key === 'End' ? smallest : size + (step ?? 0)
    if (target === size) return
    event.preventDefault()
    onResize(target)
  }
  return (
    <div
      ref={box}
      className={`${styles.split} ${styles[dock]}`}
      style={{ '--panel': `${size}%` } as CSSProperties}
    >
      <div className={styles.main}>{children}</div>
      <div
        role="separator"
        tabIndex={0}
        aria-label="Size of the job panel"
        aria-orientation={dock === 'right' ? 'vertical' : 'horizontal'}
        aria-valuemin={smallest}
        aria-valuemax={largest}
        aria-valuenow={size}
        className={styles.border}
        onKeyDown={move}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDoubleClick={() => onResize(50)}
      />
      <div className={styles.panel}>{panel}</div>
    </div>
  )
}
