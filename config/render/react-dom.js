import { ReactDom } from '/modules/react.bundle.js';
export default ReactDom;
export const { browser, createPortal, flushSync, preconnect, prefetchDNS, preinit, preinitModule, preload, preloadModule, requestFormReset, unstable_batchedUpdates, useFormState, useFormStatus, version } = ReactDom;
