import { showLabel } from './labels.ts'
import { useEffect, useRef, type ReactNode } from 'react'
import { InPage, useTabTitle } from './page-title.ts'
import styles from './Page.module.css'

interface Props {
  /** The name of what the page shows, as it was typed. It becomes the heading and the title of the tab. */
  title: string
  /** Shown instead of the title in the tab, such as "✗ #1204 demo". */
  tabTitle?: string
  /** Beside the heading. */
  before?: ReactNode
  actions?: ReactNode
  /** Below the heading. */
  subtitle?: ReactNode
  children: ReactNode
  /** The page is as wide and as high as the window, and its parts scroll on their own. */
  isFixed?: boolean
}

export function Page({ title, tabTitle, before, actions, subtitle, children, isFixed = false }: Props) {
  useTabTitle(showLabel(tabTitle ?? title))
  return (
    <div
      className={isFixed ? `${styles.page} ${styles.fixed}` : styles.page}
      data-fixed-page={isFixed || undefined}
    >
      <header className={styles.header}>
        <div className={styles.heading}>
          {before}
          <Heading>{showLabel(title)}</Heading>
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        {subtitle !== undefined && (
          <div className={styles.subtitle}>
            {typeof subtitle === 'string' ? showLabel(subtitle) : subtitle}
          </div>
        )}
      </header>
      <InPage value={true}>{children}</InPage>
    </div>
  )
}

/** Takes the focus after a navigation, so that a screen reader begins here. */
function Heading({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1} className={styles.title}>
      {children}
    </h1>
  )
}
