# cli: joins the build when the parts of the core that it needs have landed
