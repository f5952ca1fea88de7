import { ReactDomClient } from '/modules/react.bundle.js';
export default ReactDomClient;
export const { createRoot, hydrateRoot, version } = ReactDomClient;
